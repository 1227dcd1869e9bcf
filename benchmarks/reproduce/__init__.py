"""Published results beside ours; ``make reproduce`` prints them."""
