"""Backend for language models with OpenAI's interface: OpenAI itself, and compatible servers."""
