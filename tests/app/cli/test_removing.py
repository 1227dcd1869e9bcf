"""``topiarist remove``: what is said, what is asked, and what is left."""
