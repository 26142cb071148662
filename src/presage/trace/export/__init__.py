"""A trace in the forms that other tools read, each in a file of its own."""
