"""Episodes of the learner alone, and of what it is compared with."""
