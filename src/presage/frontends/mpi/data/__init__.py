"""What messages hold: datatypes, buffers, objects, and operations on them."""
