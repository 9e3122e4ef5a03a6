"""The decision store and its analyzer, over DuckDB."""
