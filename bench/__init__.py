"""Benchmarks: what the service costs over the least that the same answer can cost."""
