"""Checks of truths and detections: problems that can distort numbers, one function for each."""
