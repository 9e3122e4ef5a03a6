"""Simulator of the card game's rules. It imports neither Gymnasium nor the rest of the plugin."""
