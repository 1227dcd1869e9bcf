"""Tables that are parsed in a worker: their rows come in parts.

Floor plan:

    batches       Rows on their way from a worker to the reader: some hundreds at a time, as JSON.
    json_values   Objects of a JSON file (.json), one after the other, by ijson: the whole file is never in memory.
    parquet       Rows of a Parquet file, a few hundred at a time, by pyarrow (an optional package).
    spreadsheet   Rows of a spreadsheet (.xlsx, .xls, .ods and their kin), sheet by sheet, by calamine.
    xml_elements  Elements of an XML file (.xml) as rows, by lxml: the whole file is never in memory.

Floor plan:
"""
