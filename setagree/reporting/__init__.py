"""What a person looks at: results as pictures, as a page, as a paragraph.

A new section of the report is a topic of a module in `sections`, and its name in `findings`.
"""
