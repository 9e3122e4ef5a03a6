"""Story of a game: milestones reached, their order, and checks of the story against the image."""
