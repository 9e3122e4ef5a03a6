"""Tuning: a search for the settings of a training with the best figure, by trials of several seeds each."""
