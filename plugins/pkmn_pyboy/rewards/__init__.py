"""Parts of the reward that come with the PyBoy environment."""
