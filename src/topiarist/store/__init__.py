"""What is kept on disk, as bytes: sealed folders, arrays, tables. Complete or not there, and checked when read.

Floor plan:

    array_files        Arrays that live in files: what is too large for memory, or must be seen by several processes.
    collection_folder  A collection on disk: which generation it is, who may write, and what is swept up.
    column_table       Columns: what is known of documents beside their texts, typed once for the collection and
                       searched by value.
    copy_table         Which documents are copies of others, as a table. Collections of earlier versions have none:
                       nobody has looked.
    database           SQLite as a collection needs it: tables, transactions, readers beside a writer, and errors in
                       words.
    date_table         The dates of documents: in ISO 8601 with what was given beside it, day and month in an order that
                       is decided once.
    document_table     The documents of a collection, by row or by id, with their labels.
    edit_log           The edit log: what people did to a collection, and the states that this led through.
    encoding           Models and values to JSON and back: what JSON does not have with a tag, arrays by the name of a
                       tensor.
    facts              Small facts about a collection: its settings, and what could not be read into it.
    fulltext           Documents by their words, best match first; the conditions of a query (dates, tags, labels) as
                       SQL.
    generation         A generation, made by one grow of a collection: the database, and the parts that its states name.
    judgement_table    Judgements of documents' labels as a table: an entry for each time that somebody judged, the
                       newest last.
    marks              What people say about documents: tags, that they have read them, and notes on passages of their
                       texts.
    review_table       Reviews as tables: of each label a lot that was drawn when its review began, and an entry for
                       each judgement.
    schema             The schema of a collection's database: what is written in a new one, and what may stand in one
                       that somebody sent.
    sealed_folder      A sealed folder and its lock: written beside its place, sealed with checksums, renamed, checked
                       when read.
    succession         A generation that follows another and has fewer documents: its tables, its parts, its log;
                       published, or never there.
    tensors            Arrays in a safetensors file: written in one go, opened without reading them.
    vocabulary_file    The words of columns as a file: what lies beside counts, models and indexes whose words are
                       known.
"""
