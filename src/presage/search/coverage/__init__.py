"""What a search ran, what it never ran, and which claims had nothing to say."""
