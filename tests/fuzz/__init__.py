"""Random hostile tables, arguments and commands, and what they must end in."""
