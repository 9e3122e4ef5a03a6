"""The hybrid of learner and advised side: who decides each step."""
