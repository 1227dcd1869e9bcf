"""Languages: the pages in the language of whoever reads them, with numbers and dates as they write them there."""
