"""The commands of the debugger, by what they do; importing a module registers its commands."""
