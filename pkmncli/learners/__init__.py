"""Parts shared by learners on PyTorch: observations, networks, confidence and state.

Imported by learners only: nothing else in the core needs PyTorch.
"""
