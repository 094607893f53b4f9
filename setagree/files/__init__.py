"""Where tables come from: the bytes of files, of whatever kind, and standard input."""
