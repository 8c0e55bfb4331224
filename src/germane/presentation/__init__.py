"""What people get to see: pictures, and the files that they are written to."""
