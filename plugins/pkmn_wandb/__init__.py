"""Tracker for Weights & Biases: metrics to its server, or offline into the run folder."""
