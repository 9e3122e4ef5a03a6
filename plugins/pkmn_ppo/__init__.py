"""The on-policy learners, PPO and A2C."""
