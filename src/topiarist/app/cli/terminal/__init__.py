"""The terminal: where is printed, how far a command is, how it fails and which code it leaves with.

Floor plan:

    bar               How far something is, for commands that have one thing to do.
    console           Where everything is printed: what a document says never steers the terminal, and a reader may
                      leave.
    failures          From an exception to a sentence and an exit code.
    figures           Drawings into files: refused before the work begins if they cannot be made.
    grow_progress     What a grow says on the way: a line that keeps changing on a terminal, plain lines elsewhere, or
                      JSON lines.
    screen            Where a command prints: results to standard output, the rest to standard error; and what it says
                      at the end.
    steadiness_lines  How steady the topics of a collection are, in lines: how many of each kind, and those that came
                      back least.
    stop_signal       Ctrl-C while a tree grows: once to stop after this step and keep the best tree so far, twice to
                      stop at once.
    targets           Where a command writes what it was asked for: never into a collection, never over what nobody
                      meant to give up.
"""
