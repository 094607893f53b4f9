"""How often decisions are wrong: tests of models, thresholds, looks, components, queues, repeats.

``python -m tests.benchmarks.decisions`` runs the study, on where it stopped; its results are in
`results.csv` beside this file, from which the tables of the guide are made.
"""
