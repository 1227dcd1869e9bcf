"""Products that hierarchies need: counts times rows, and sums along the paths of a tree."""
