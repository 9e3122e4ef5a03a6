"""Measurements of the product's own speed and memory: ratios within one run, since shared machines are noisy."""
