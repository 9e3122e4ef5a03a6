"""Any Game Boy image as an environment: what is known of it is its screen."""
