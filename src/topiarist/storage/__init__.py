"""Files of a collection: folders with checksums, arrays and tables, complete or absent, and checked when read."""
