"""Tracker for TensorBoard: metrics as event files in the run folder."""
