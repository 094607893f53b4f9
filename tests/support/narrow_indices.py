"""A numpy that refuses what it refuses where indices have 32 bits, as they have in a browser.

There `np.intp` is `np.int32`, and `repeat`, `bincount`, `reduceat`, `take`, `choose` and `put` take
no array of int64. Here both are one type; but numpy keeps a second one of 64 bits, `np.longlong`,
which answers as int64 does and can be told apart. So whatever asks for int64 gets that one, and
whatever wants indices refuses it. Only the modules of setagree see this numpy.
"""

import importlib
import pkgutil
import sys
from types import ModuleType

import numpy as np

import setagree
from setagree.credit.geometry import SetGeometry
from setagree.credit.subsets import SizeTable

WIDE = np.dtype(np.longlong)


def check_narrow(array, what):
    """Raise what numpy raises for indices of 64 bits, where indices have 32."""
    if getattr(array, "dtype", np.dtype(np.intp)).num == WIDE.num and np.ndim(array):
        raise TypeError(f"{what}: Cannot cast array data from dtype('int64') to dtype('int32')")


def checking(function, place, name):
    """Return a function that looks at one of its arguments first."""

    def checked(*args, **kwargs):
        given = args[place] if len(args) > place else kwargs.get(name)
        check_narrow(given, function.__name__)
        return function(*args, **kwargs)

    return checked


class Add:
    """`np.add`, whose `reduceat` looks at its indices first."""

    def __call__(self, *args, **kwargs):
        return np.add(*args, **kwargs)

    def __getattr__(self, name):
        return getattr(np.add, name)

    def reduceat(self, array, indices, *args, **kwargs):
        """Add up runs that begin at the indices."""
        check_narrow(indices, "reduceat")
        return np.add.reduceat(array, indices, *args, **kwargs)


def widened(method):
    """Return a method of a generator whose whole numbers have 64 bits everywhere."""

    def drawn(self, *args, **kwargs):
        out = getattr(np.random.Generator, method)(self, *args, **kwargs)
        is_wide = isinstance(out, np.ndarray) and out.dtype == np.int64
        return out.astype(WIDE) if is_wide else out

    return drawn


def divmod_of(a, b):
    """Divide with a remainder; numpy itself answers in `np.int64` where both are `np.longlong`."""
    out = np.divmod(a, b)
    is_wide = any(getattr(one, "dtype", np.dtype(np.intp)).num == WIDE.num for one in (a, b))
    return tuple(one.astype(WIDE) for one in out) if is_wide else out


DRAWS = ["binomial", "choice", "hypergeometric", "integers", "multinomial",
         "multivariate_hypergeometric", "poisson"]  # fmt: skip
Generator = type("Generator", (np.random.Generator,), {name: widened(name) for name in DRAWS})


def default_rng(seed=None):
    """Return a generator whose whole numbers have 64 bits everywhere."""
    if isinstance(seed, np.random.Generator):
        return seed
    return Generator(np.random.default_rng(seed).bit_generator)


def standing_in(module, **others):
    """Return a module like another one, but for some names."""
    out = ModuleType(module.__name__)
    out.__dict__.update({"__getattr__": lambda name: getattr(module, name), **others})
    return out


NUMPY = standing_in(
    np,
    int64=np.longlong,
    add=Add(),
    divmod=divmod_of,
    random=standing_in(np.random, default_rng=default_rng, Generator=np.random.Generator),
    repeat=checking(np.repeat, 1, "repeats"),
    bincount=checking(np.bincount, 0, "x"),
    take=checking(np.take, 1, "indices"),
    choose=checking(np.choose, 0, "a"),
    put=checking(np.put, 1, "ind"),
)


def modules():
    for module in pkgutil.walk_packages(setagree.__path__, "setagree."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    names = [name for name in sys.modules if name.startswith("setagree.")]
    return [sys.modules[name] for name in names if vars(sys.modules[name]).get("np") is np]


def replacements():
    """Return what is to be put where: object, name, and what it becomes."""
    # The method of an array cannot be replaced; these two take what all pairs of values come by.
    return [
        *((module, "np", NUMPY) for module in modules()),
        (SetGeometry, "shared", checking(SetGeometry.shared, 1, "k")),
        (SizeTable, "between", checking(SizeTable.between, 1, "k")),
    ]
