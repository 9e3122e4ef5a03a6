"""Environment ``gym``: any environment that is registered with Gymnasium, by its id."""
