"""The words and names of nodes as a person would choose them: by documents, phrases, and an exam."""
