"""Language models in this process: llama.cpp over a model file, without any server."""
