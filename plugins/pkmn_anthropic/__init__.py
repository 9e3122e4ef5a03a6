"""Language models of Anthropic."""
