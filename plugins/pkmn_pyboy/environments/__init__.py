"""The parts of an environment: observations, masks, start states, step records."""
