"""World state: what a workspace looks like now, told to the model only where it changed."""
