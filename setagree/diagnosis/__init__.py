"""Diagnosis of low agreement: labels, raters, units and groups that lower it."""
