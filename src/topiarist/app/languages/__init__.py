"""Languages: the pages in the language of whoever reads them, with numbers and dates as they write them there.

Floor plan:

    catalogues     The catalogues of messages, which language a reader wants, and sentences in it.
    locales        Numbers, shares and dates as a language writes them.
    template_text  The text of a template, message by message: what stands between its tags and in attributes that
                   people read.
"""
