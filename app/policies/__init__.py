"""Policies: limits and the decision, one module per mechanism."""
