"""Compaction: a summary in place of the past, without a stored message touched."""
