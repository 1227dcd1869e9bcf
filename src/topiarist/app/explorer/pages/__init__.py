"""One module a page: a question, a frozen value that answers it, and the function that fills it from a view.

Floor plan:

    judging/       Pages on which people judge documents: where they are filed, and whether they are what is looked for.
    spread/        Pages of how topics are spread: over time, over groups and labels of documents, and on a map.
    coloured_text  The text of a document in pieces, each word with the level that it speaks from in this document.
    dendrogram     How do the groups join?
    document       What does it say, and why is it here?
    duplicates     What is there more than once?
    help           What do the words mean, and which keys are there?
    model          Can I trust it?
    narrowing      Ways to narrow a search: by topic, date, kind of file, tag, label and column, each with how many it
                   would leave.
    new            What arrived, and where does it go?
    notes          What did people note, and on which passages?
    outline        Which topics are there, from the top down?
    overview       What is in here?
    registry       Every page of the explorer, by its address. A new page is its module, its template, and a line here.
    search         Where is it?
    shape          What would this edit change?
    topic          What is this topic about, and what is in it?
    tree_pairs     Two trees beside each other: which there are to compare, what became of each topic, the documents of
                   a pair.
    trees          How do two trees differ?
    word           Where is this word at home?
"""
