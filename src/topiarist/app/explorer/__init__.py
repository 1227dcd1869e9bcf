"""The explorer: a collection as web pages on this machine, and as one file to hand on.

Floor plan:

    pages/          One module a page: a question, a frozen value that answers it, and the function that fills it from a
                    view.
    web/            The web server: who may ask, which function answers which address, and what goes wrong in words.
    writes/         What people change from a page: marks, edits of the tree, judgements, new documents. By POST, with
                    the token.
    addresses       Every address of the explorer. What a page shows is in its address: reload it, keep it, send it to
                    somebody.
    detail          How much of the tree is opened at once: a few topics first, the rest where somebody opens it.
    drawings        Pictures as SVG, drawn here and not in the browser: they need no script, print well, and are text to
                    a test.
    frame           What all pages have around them: the collection's name, the tree as a table of contents, tags, the
                    state.
    jobs            A piece of work that runs beside the pages: how far it is, how it is stopped, and how it ended.
    memory          What was worked out for one page and serves the next: the latest, as far as there is room.
    query_limits    Queries of people who are not known: read so that none of them takes long, and stopped where one
                    does.
    removed_topics  Topics in messages: by their names, never by a number alone; those that are gone as the log knows
                    them.
    rendering       Values to HTML. Everything that comes from documents or from people is escaped, without exception.
    report          A collection as one file: the same templates, nothing loaded from anywhere, the same bytes for the
                    same model.
    reviews         Reviews that somebody reads at this moment: kept open between judgements, so that each of them is
                    quick.
    ribbons         The picture of two trees as SVG: two columns of topics, as high as they have documents, and streams
                    between them.
    session         The collection that a server shows: always its latest state, and the one piece of work that may run
                    beside.
    streams         Topics over time as SVG: streams that are as wide as they have documents, and a small curve with a
                    band for each.
    tree_picture    The tree as a picture: branches that part from left to right, as thick as they have documents, a
                    colour a heading.
    values          The small values that pages are made of: a topic in a line, a document in a line, the pages of a
                    list.
    view            A collection at one state, and what pages derive from it, worked out once.
"""
