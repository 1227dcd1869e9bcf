"""What people change from a page: marks, edits of the tree, judgements, new documents. By POST, with the token."""
