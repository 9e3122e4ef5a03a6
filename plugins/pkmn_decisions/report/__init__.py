"""Findings as a report for people and programs."""
