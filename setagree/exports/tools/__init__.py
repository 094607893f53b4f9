"""Readers of exports, one file a tool."""
