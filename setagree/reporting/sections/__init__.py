"""The sections of a report: one module per section, which computes, words and draws it."""
