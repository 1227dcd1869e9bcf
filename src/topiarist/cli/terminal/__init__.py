"""The terminal: where is printed, how far a command is, how it fails and which code it leaves with."""
