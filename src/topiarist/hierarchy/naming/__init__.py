"""The words and names of nodes, as a person would choose them."""
