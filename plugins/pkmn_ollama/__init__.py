"""Backend for language models of an Ollama server."""
