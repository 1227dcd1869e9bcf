"""The web server: who may ask, which function answers which address, and what goes wrong in words.

Floor plan:

    connections      Connections: not more than a server can hold, and none for whoever opens one and then says nothing.
    downloads        Things to keep: the documents of a list as a file, and the text of a document. Never opened in the
                     browser.
    failures         When something goes wrong: what the address meant, and what to try, in words. Never a word of a
                     document.
    map_points       The points of the map as bytes, and the document that a point is: what the page of the map asks for
                     by itself.
    placements       Where texts would be filed: for programs, by POST with JSON. Nothing is kept, so that nothing has
                     to be guarded.
    reader_language  In which language whoever asks is answered: pages in theirs, data in English for all programs
                     alike.
    safety           Who may ask, who may write, and what a browser may do with an answer.
    server           The server: which function answers which address, as a page and as data.
    serving          Starting the server: sockets, addresses that can be opened, the browser.
    worker_threads   Many readers at once: a few threads serve them all, one page after the other.
"""
