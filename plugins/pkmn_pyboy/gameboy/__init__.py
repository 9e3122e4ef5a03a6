"""Environment for any Game Boy image; only its screen is known."""
