"""Worker processes: each has one environment, and the trainer's side of them."""
