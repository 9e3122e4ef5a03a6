"""The live page of a training: a server in a process of its own, and one page that needs no network."""
