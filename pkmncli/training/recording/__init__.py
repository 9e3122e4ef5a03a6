"""The rows that a training records: decisions, episodes, metrics, and how far it got."""
