"""Language models behind OpenAI's interface: OpenAI itself, and every server that speaks like it."""
