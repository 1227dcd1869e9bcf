"""Grow: from documents to a collection on disk, in phases that can be taken up again.

Floor plan:

    block_growth     Growing from blocks in files: on the workers of a cluster, or in this process within an allowance
                     of memory.
    data_frames      Documents from what people have in Python: data frames of any library, series, lists of texts or of
                     paths.
    estimate         What a grow will take: memory before it grows; for a dry run files, documents, time and memory.
    existing         What lies at a folder before a grow, and what is left there after one that was stopped.
    fit_description  What is kept of a fit: the model, the shares of documents, topics in words, and what is usual.
    granted          Which folders somebody on this machine has grown from: what may be handed out as an original, kept
                     outside.
    grower           Growing a collection: read, count, grow, describe, index, publish; each phase can be taken up
                     again.
    inheritance      What people did to a collection, carried over to a new one that takes its place.
    journal          What a grow tells on its way, and the checkpoints of its tree, kept as parts of an unfinished
                     collection.
    language_trees   One tree over documents in several languages: each language is grown on its own, and then they are
                     joined.
    left_out         What a grow leaves out of counting, as it is told and kept: lines that many documents share, and
                     copies.
    made_with        What a collection was grown with: versions, processor and device, and a digest of the texts that
                     were read.
    notebook_teller  What a grow says in a notebook: a card that keeps changing, with what was done and what is done
                     now.
    one_language     The one language of a collection, for a grow that leaves the others out: that of most documents, of
                     all of them.
    recipe           How a collection is grown: everything a person may choose, as one value that is kept with the
                     collection.
    regrowth         Growing again to see what was chance: trees of other halves of the documents, and how much of each
                     topic comes back.
"""
