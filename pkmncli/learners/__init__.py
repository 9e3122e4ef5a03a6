"""What learners on PyTorch have in common: how they read observations, judge themselves, and are kept.

Imported by learners only: nothing else in the core needs PyTorch.
"""
