"""Presentation: pictures, and the files that people get."""
