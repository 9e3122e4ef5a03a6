"""Train agents that play Pokemon Crystal: rules, a language model and reinforcement learning together."""
