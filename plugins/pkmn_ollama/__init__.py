"""Language models of an Ollama server."""
