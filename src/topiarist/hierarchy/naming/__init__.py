"""The words and names of nodes as a person would choose them: by documents, phrases, and an exam.

Floor plan:

    exam      The exam of names: does a name, read as a query, lead to its own node?
    names     Names that a person would choose for nodes, made of words and phrases.
    presence  Words that describe nodes by documents instead of tokens.
    readings  What texts tell that counts do not: phrases, how words are written, what is an address or a signature.
"""
