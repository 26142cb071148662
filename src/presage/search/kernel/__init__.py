"""What the kernel asks Python while it searches, and what is wrong with an answer."""
