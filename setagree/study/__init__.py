"""Text to labels, labels to annotations, annotations to a tally."""
