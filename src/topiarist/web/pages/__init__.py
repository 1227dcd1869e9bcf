"""Pages of the explorer: a module for each page, with a frozen value and the function that loads it."""
