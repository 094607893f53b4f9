"""What a person looks at: results as pictures, as a page, as a paragraph."""
