"""Backend for language models in this process: llama.cpp with a model file, without a server."""
