"""Experiments: trainings with every combination of some settings, each with several seeds."""
