"""File: where new documents belong, how sure that is, and how they are added."""
