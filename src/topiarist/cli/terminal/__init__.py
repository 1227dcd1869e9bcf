"""Terminal of the command line: output, progress, failures and exit codes."""
