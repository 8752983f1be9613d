"""HTTP in and out: routes, wire models, problems."""
