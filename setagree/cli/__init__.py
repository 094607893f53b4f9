"""The command ``setagree``: options in, text out, no arithmetic."""
