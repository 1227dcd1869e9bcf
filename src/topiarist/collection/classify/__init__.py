"""Classification: categories learned from labels, their quality, and judgements of users."""
