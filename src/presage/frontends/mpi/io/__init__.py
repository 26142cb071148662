"""Files that ranks share."""
