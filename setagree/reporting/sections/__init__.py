"""The sections of a report: one file a section, which finds, says, shows and draws it."""
