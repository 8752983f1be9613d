"""The optional summarizer: asks an OpenAI-compatible endpoint for a summary."""
