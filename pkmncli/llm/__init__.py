"""The advised side's language model: prompts, reading of replies, limits, cache and accounting."""
