"""Exploring: what is in here, on the screen, as pages and in files.

Floor plan:

    compare   ``topiarist compare``: what is different in two trees?
    evaluate  ``topiarist evaluate``: is the tree any good?
    explore   ``topiarist explore``: a collection as pages in the browser, from this machine and for this machine.
    export    ``topiarist export``: how do I hand this to others, and to other programs?
    groups    ``topiarist groups``: who speaks of what, more than the others?
    mcp       ``topiarist mcp``: how does a language model read this collection, and nothing but this?
    report    ``topiarist report``: a collection as one file, to hand on.
    show      ``topiarist show``: what is this topic about, and what is in it? What does this document say, and why is
              it here?
    time      ``topiarist time``: when was what spoken of, what came in bursts, and what is new?
    tree      ``topiarist tree``: what is in here?
"""
