"""From a study and a distance to a result.

A new coefficient is a function in `coefficients` and its name in the list at the end of that file
and in `setagree.__all__`. The full reference is in `references`; a new chance model is a class in
`setagree.coefficients.chance_models`. Another package provides a `Coefficient` through the
entry-point group ``setagree.coefficients``.
"""
