"""Start of a training: start states, weights and demonstrations of earlier runs."""
