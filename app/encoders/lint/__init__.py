"""Lint: would a provider take a body, and if not, where."""
