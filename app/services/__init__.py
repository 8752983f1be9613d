"""Use cases: where a read, one pure call and a write meet."""
