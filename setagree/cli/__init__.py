"""The command ``setagree``: options, one call of the library, one printed result.

A new command is a function in one of the modules here, or in its own, and a line in `app`. Its
options are groups (`options.grouped`); it reads with `reading`, and writes with a `Deliverer`.
"""
