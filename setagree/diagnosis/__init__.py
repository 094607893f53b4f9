"""Why is it low: labels, raters, units and groups that cost the agreement."""
