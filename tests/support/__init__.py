"""Helpers of tests: what several of them start, read or damage."""
