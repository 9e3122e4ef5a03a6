"""Measurements of the product's own speed and memory: ratios taken in one run, since shared machines are noisy."""
