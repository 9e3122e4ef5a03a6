"""Tables of a run on disk: writing, reading, counting and export."""
