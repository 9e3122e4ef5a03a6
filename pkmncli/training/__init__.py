"""Training: the trainer, its workers and learner thread, checkpoints, recording and progress."""
