"""How often intervals hold the true agreement, and how often tests reject a true hypothesis.

``python -m tests.benchmarks.coverage`` runs the study, on where it stopped; its results are in
`results.csv` beside this file, from which the table and the picture of the guide are made.
"""
