"""The DQN learner."""
