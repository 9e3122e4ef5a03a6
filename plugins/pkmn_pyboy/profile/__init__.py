"""Game as data: memory, names, milestones and scripts as a profile describes them, and the profile for an image."""
