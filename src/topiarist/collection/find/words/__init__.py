"""Every word of every document, by stems: what the default ranking knows beside the tree.

Floor plan:

    cells           Documents of a large collection by where they lie: those near a query are looked for in the cells
                    near it alone.
    line_file       Lines of a text file, each read when it is asked for: millions of words take no memory before that.
    near_spellings  Words that are spelt nearly as another: all words of a collection compared at once, in a few
                    milliseconds.
    posting_lists   The words of some documents: which of them have a word, in which form, and how often.
    word_index      All words of a collection: kept in a folder, added to, and asked by stems.
    word_question   A query in words: BM25 over stems, and the words that its best documents add.
    word_scores     What words bring to every document of a collection, added up in one look, with what is asked of all
                    scores later.
    word_space      Documents and words in a space of few dimensions: words that are used alike lie near each other.
"""
