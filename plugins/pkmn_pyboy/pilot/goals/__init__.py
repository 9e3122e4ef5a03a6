"""What the pilot wants next: healing, shopping, training, hunting, exploring."""
