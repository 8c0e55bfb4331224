"""The values that everything speaks of: judgments, rankings, conventions and findings."""
