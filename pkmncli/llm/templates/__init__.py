"""The prompt that is used where a user brings none."""
