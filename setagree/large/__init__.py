"""Tables that do not fit in memory, reduced to a tally where they are.

What a coefficient needs of a study is how often each multiset of values (a pattern) occurs among
the units; where it asks who gave which answer, how often each set of (rater, value). A study of
10^10 ratings has far fewer patterns than units, so they are found where the ratings are, and only
they come home. The steps, what is exact, and what it costs are told in
``examples/guide/how-reduction-works.md``.

Others use `opening` (whatever a person has to a study), `recognition` (the exports of tools) and
`reduce` (a table to a tally).
"""
