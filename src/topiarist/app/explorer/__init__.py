"""The explorer: a collection as web pages on this machine, and as one file to hand on.

addresses.py   every address, made in one place
view.py        a collection at one state, and what pages derive from it, worked out once
desk.py        the collection that a server shows: always the latest state, and the work that runs beside
pages/         one module a page: a frozen value, and the function that fills it
asking.py      queries that may not take long
frame.py       what all pages have around them: header, tree, footer
drawings.py    pictures as SVG, from the values of pages
rendering.py   values to HTML (templates/) and to JSON
safety.py      who may ask, who may write, and what a browser may do with an answer
failures.py    what went wrong, in words; faults.py: what should not have
server.py      routes
writing.py     what people change
report.py      the same templates as one file
"""
