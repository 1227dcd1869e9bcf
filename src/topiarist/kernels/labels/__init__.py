"""Floor plan to come."""
