"""Reduction of tables that do not fit in memory to a tally, and the opening of all kinds of data.

A coefficient needs the frequency of each pattern: a multiset of values of a unit, or a set of
(rater, value) if it uses rater identities. A study of 10^10 ratings has far fewer patterns than
units, so an engine computes them and only patterns are fetched. The steps, their exactness and
their cost are described in ``examples/guide/how-reduction-works.md``.

Other rooms use `opening` (any data to a study), `recognition` (exports of tools) and `reduce` (a
table to a tally).
"""
