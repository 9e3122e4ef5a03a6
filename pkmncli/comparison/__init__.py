"""Compares what trainings reached: scores of runs, in groups, with how far chance may have decided."""
