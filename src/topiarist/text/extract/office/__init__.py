"""Files of office programs and electronic books: a zip file of XML each, or RTF.

Floor plan:

"""
