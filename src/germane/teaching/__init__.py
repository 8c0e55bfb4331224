"""Teaching: animations of one ranking, experiments on measures, and a page to explore them."""
