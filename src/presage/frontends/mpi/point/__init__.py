"""Point-to-point messages, and the requests that are under way."""
