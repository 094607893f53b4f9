"""From a study and a distance to a result.

A new coefficient is a function in `coefficients` with its name in the list at the end of that file,
and a line in `setagree/__init__.pyi`, the list of public names. The full reference is in
`references`; a new chance model is a class in `setagree.coefficients.chance_models`. Another
package provides a `Coefficient` through the entry-point group ``setagree.coefficients``.
"""
