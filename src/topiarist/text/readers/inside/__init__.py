"""What is in a file, also where that is files again, or pictures of pages.

Floor plan:

    contents  What is in a file: by its reader here, or by a parser in a worker; whatever goes wrong is the trouble of
              it alone.
    nested    Files within files: members of archives, and what came with a message. Each is read as if it lay in a
              folder.
    scans     Scanned pages: read from their pictures where that was asked for, or where a PDF has no text at all.

Floor plan:
"""
