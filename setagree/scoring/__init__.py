"""From a study and a distance to a result.

A new coefficient is a function in `coefficients` and its name in the list at the end of that file
and in `setagree.__all__`. What its source is called stands in full in `references`; a new way in
which chance answers is a class in `setagree.coefficients.chance_models`. Another package offers a
`Coefficient` through the entry-point group ``setagree.coefficients``.

Others use `registry` (names of coefficients), `scorer`, `results`, `names` and `table`.
"""
