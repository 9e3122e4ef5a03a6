"""Network parts that read observations, for the learners on PyTorch."""
