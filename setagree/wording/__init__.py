"""Formats of numbers, names and tables for users."""
