"""Battles of the pilot: tactics, forecasts, presses, moves to learn."""
