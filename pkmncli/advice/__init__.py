"""Advice in a training: when the language model is asked, and whether it is followed."""
