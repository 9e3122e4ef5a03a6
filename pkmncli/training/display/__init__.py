"""Everything that shows a training: console, live board, trackers and functions of a script."""
