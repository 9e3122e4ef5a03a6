"""Tuning: searches settings of a training for those with the best figure, by trials of several seeds each."""
