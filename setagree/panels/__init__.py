"""Raters against raters: humans and models, two panels, the agreed answer."""
