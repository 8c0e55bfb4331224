"""Animations of one ranking: GIF, SVG and HTML from the same frames."""
