"""What a training begins with: start states, weights and demonstrations of earlier runs."""
