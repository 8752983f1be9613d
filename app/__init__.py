"""Foreword: prepares the next model call of an agent session."""
