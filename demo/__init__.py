"""Replays a real coding-agent session through a running service, as a worker would."""
