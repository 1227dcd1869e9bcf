"""How good is it, and how alike: figures with one definition each, and comparisons of trees."""
