"""Files of office programs and electronic books: a zip file of XML each, or RTF.

Floor plan:

    epub          Text of an electronic book (.epub): its chapters in the order of reading, by the lexbor parser.
    opendocument  Text of an OpenDocument file (.odt, .odp): paragraphs and headings in order, without what was struck
                  out.
    packages      Documents that are zip files of XML: looked at before anything is unpacked, then part by part.
    rtf           Text of a Rich Text file (.rtf), by striprtf.
    slides        Text of a presentation (.pptx): the slides in their order, each with its notes.

Floor plan:
"""
