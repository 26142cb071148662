"""From a target on the command line to the system it names, if its code may run."""
