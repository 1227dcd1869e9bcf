"""Every word of every document, by stems: what the default ranking knows beside the tree.

Floor plan:

    near_spellings  Words that are spelt nearly as another: all words of a collection compared at once, in a few
                    milliseconds.
    posting_lists   The words of some documents: which of them have a word, in which form, and how often.
    word_index      All words of a collection: kept in a folder, added to, and asked by stems.
    word_question   A query in words: BM25 over stems, and the words that its best documents add.
    word_space      Documents and words in a space of few dimensions: words that are used alike lie near each other.
"""
