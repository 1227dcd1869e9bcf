"""What a person sees. Only this room prints.

Floor plan:

    cli/            The command line: parse, call one task, print. Numerical libraries are loaded by the commands, not
                    by ``--help``.
    explorer/       The explorer: a collection as web pages on this machine, and as one file to hand on.
    languages/      Languages: the pages in the language of whoever reads them, with numbers and dates as they write
                    them there.
    explorer_door   The door to the explorer: what the command line starts of the explorer, loaded when it is started.
    remaining_time  How much is done, and how long the rest will take: estimated from this very run, never from a table.
    review_words    What a review says, on the terminal and in pages: how a document was drawn, how far it is, when one
                    may stop.
    words           The phrase book of terminal and pages: numbers, plurals, shares, sizes, times and sentences that
                    both say.
"""
