"""Documents to tokens: readers, tokeniser, stop lists. Knows no matrix.

Floor plan:

    extract/     Text out of files that may be hostile: PDF, office files, mail, tables, archives; parsed in processes
                 of their own.
    readers/     Documents from any source, as a stream.
    characters   Which characters make up words, in every script, and the one form in which texts are compared.
    date_orders  The order of day and month in each source of dates: its own dates decide it, and never those of another
                 source.
    dates        Dates as people and programs write them, read as ISO 8601 or not at all: nothing is guessed from one
                 value alone.
    demo         The collection that comes with the package: 12,000 arXiv abstracts of 2014 (see ``data/README.md``).
    documents    A document as it comes from a reader, and a document that could not be read.
    fields       What is known of documents beside their texts: named columns, of which kind each is, and what may be
                 asked of it.
    highlights   Where in a text the words of a query are, as the full-text index would see them.
    language     Languages: their names, and which one a collection is written in.
    passages     Passages of long documents: their pages or sections where the file has them, else about 300 words to a
                 sentence end.
    query        What people type into a search field: words and conditions (topic, date, tag, column …), parsed without
                 failing.
    repeated     Lines that many documents share: navigation bars, disclaimers, signatures, the heads and feet of pages.
    seen_hashes  What was seen before, by hashes: eight bytes and a little air for each, where a set of Python's takes a
                 hundred.
    segmenters   Words of Chinese, Japanese and Thai, where a package that knows them is installed; pairs of letters
                 otherwise.
    spelling     The one speller: what somebody who misspelt a word or a name may have meant.
    stems        Snowball stems, for those who ask for them. They merge words; what is shown is a word, never a stem.
    stop_words   Stop words, for those who ask for them: by language, from a file, or as a list. None are used by
                 default.
    titles       What a document is called, everywhere the same: its own title, else its first line, else the name of
                 its file.
    tokens       From a text to its words, in every script.
"""
