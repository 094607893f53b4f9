"""What the tests of results share."""

FILL = {"f": 0.25, "i": -7, "b": False}


def spoil(frame):
    """Overwrite every cell of a frame where it stands, and take a column away."""
    for k, dtype in enumerate(frame.dtypes):
        frame.iloc[:, k] = FILL.get(dtype.kind, "spoiled")
    frame.pop(frame.columns[-1])


def flat(result):
    return " ".join(str(result).split())
