"""Exploration: one page on which a list, or the boxes of an image, are moved."""
