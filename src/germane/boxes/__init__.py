"""Object detection: boxes are matched with truths, and then ranked lists like any other."""
