"""What the decisions of runs show: patterns, sequences, loops, who decides best."""
