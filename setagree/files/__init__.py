"""Tables from files of all supported formats and from standard input."""
