"""One module a page: a question, a frozen value that answers it, and the function that fills it from a view."""
