"""From a study and a distance to a result."""
