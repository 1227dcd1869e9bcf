"""The explorer: a collection as web pages on this machine, and as one file to hand on.

addresses.py   every address, made in one place
view.py        a collection at one state, and what pages derive from it, worked out once
desk.py        the collection that a server shows: always the latest state; jobs.py: the fit that runs beside
pages/         one module a page: a frozen value, and the function that fills it
asking.py      queries that may not take long
frame.py       what all pages have around them: header, tree, footer
drawings.py    pictures as SVG, from the values of pages
rendering.py   values to HTML (templates/) and to JSON
safety.py      who may ask, who may write, and what a browser may do with an answer
failures.py    what went wrong, in words; faults.py: what should not have; gone.py: topics that were there once
dating.py      when the tree was fitted, and what came after it
server.py      routes; serving.py: sockets and addresses
writing.py     what people change; bodies.py: how it is told; conflicts.py: when somebody was faster
downloads.py   lists and texts to keep; originals.py: the files that documents came from
report.py      the same templates as one file
"""
