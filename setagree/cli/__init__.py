"""The command ``setagree``: options in, text out, no arithmetic.

A new command is a function in one of the files here, or in one of its own, and its name in `app`.
It takes its options from `options`, whose groups `grouped` spreads, reads with `reading`, and
writes through a `Deliverer` of `output`.
"""
