"""What others say in their own formats, as values of the core."""
