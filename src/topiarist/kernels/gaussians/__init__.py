"""Many small symmetric matrices at once."""
