"""Live page of a training: a server in a separate process, and one page that needs no network."""
