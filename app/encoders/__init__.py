"""Neutral requests in the words of providers, and providers' answers back."""
