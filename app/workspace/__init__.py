"""Reads a real directory into a capture, on the worker's machine."""
