"""Comparison of what trainings reached: scores of runs in groups, with confidence intervals."""
