"""Backend for language models of Anthropic."""
