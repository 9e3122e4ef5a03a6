"""The hybrid: who decides a step, the learner or the advised side."""
