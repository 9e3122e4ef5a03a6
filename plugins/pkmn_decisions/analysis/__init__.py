"""Analysis of the decisions of runs: patterns, sequences, loops, and the best source for each situation."""
