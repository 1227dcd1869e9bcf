"""The words and names of nodes, as a person would choose them.

Floor plan:

    exam      The exam of names: does a name, read as a query, lead to its own node? And which names hold still.
    names     Names that a person would choose for nodes, made of words and phrases.
    presence  Words that describe nodes by documents instead of tokens.
    readings  What texts tell that counts do not: phrases, how words are written, what is an address or a signature.
"""
