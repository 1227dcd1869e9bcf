"""Spread: how topics lie over time and over groups of documents.

Floor plan:

    by_group      Topics by group: of which topics one group of documents has more than the others, by any column, label
                  or tag.
    document_map  The map of a collection: circles of topics within each other, and a point for each document.
    newer         What is new: topics and words of which documents from a date on have more than those before it.
    over_time     Topics over time: the share of each in every period, with intervals and bursts.
    periods       Periods: the dates of documents as days, weeks, months or years, by the span of the dates; what has no
                  place is told.
    word_times    Words that came and went within a topic: in which stretch of time its documents had them more often
                  than usual.
"""
