"""Front ends: unmodified code that runs on presage's processes."""
