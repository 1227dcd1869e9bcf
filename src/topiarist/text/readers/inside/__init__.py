"""What is in a file, also where that is files again, or pictures of pages.

Floor plan:

"""
