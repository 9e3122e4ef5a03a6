"""Parts of an environment: observations, start states, step records."""
