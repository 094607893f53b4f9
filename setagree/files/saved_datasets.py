"""Folders in which the library datasets of Hugging Face saves a dataset (`save_to_disk`)."""

from __future__ import annotations

import json
import os
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from setagree.errors import FileError, listing, missing_package
from setagree.files.streams import Source, check_regular
from setagree.study.frames import as_pandas

_INFO, _STATE, _SPLITS = "dataset_info.json", "state.json", "dataset_dict.json"


def is_dataset(path: Path) -> bool:
    """Return whether a path is the folder of a dataset, or of its splits."""
    # Path's method raises for a name that is too long.
    is_folder = os.path.isdir(path)  # noqa: PTH112
    return is_folder and any((path / name).is_file() for name in (_STATE, _SPLITS))


def read_dataset(source: Source, *, limit: int | None = None) -> pd.DataFrame:
    """Return the rows of a dataset, the numbers of classes as their names."""
    return as_pandas(dataset_rows(source, limit=limit))


def dataset_rows(source: Source, *, limit: int | None = None) -> Any:
    """Return the rows of a dataset as an Arrow table, the numbers of classes as their names.

    Of several splits, the folder of one has to be named. A `limit` is how many rows are wanted.
    """
    folder = source.path
    if (folder / _SPLITS).is_file():
        names = _json(folder / _SPLITS).get("splits")
        if not isinstance(names, list) or not names or not all(map(_is_name, names)):
            raise FileError(f"{str(folder / _SPLITS)!r} does not list the splits of the dataset.")
        if len(names) > 1:
            raise FileError(
                f"{str(folder)!r} is a dataset with {len(names)} splits ({listing(names)}); name "
                f"the folder of one, as {str(folder / names[0])!r}, or those of several, which are "
                "joined."
            )
        folder /= str(names[0])
    try:
        import pyarrow as pa
    except ImportError:
        raise missing_package(f"{source}, a dataset in Arrow,", "pyarrow", "files") from None
    features = _json(folder / _INFO).get("features")
    features = features if isinstance(features, dict) else {}
    try:
        table = pa.concat_tables(_stream(file, limit) for file in _data_files(folder))
        table = table.slice(0, limit)
        table.validate(full=True)
        for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
            chunks = [_named(chunk, features.get(name), name, folder) for chunk in column.chunks]
            if chunks:
                table = table.set_column(place, name, pa.chunked_array(chunks))
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).rstrip(".")
        raise FileError(f"{str(folder)!r} cannot be read as a dataset: {reason}.") from error
    if not table.num_rows:
        raise FileError(f"{str(folder)!r} has columns and no rows.")
    return table


def _is_name(name: object) -> bool:
    """Return whether a value is the name of a file or folder directly in its folder."""
    return isinstance(name, str) and name not in {"", ".", ".."} and Path(name).name == name


def _json(file: Path) -> dict[str, Any]:
    try:
        check_regular(file)
        found = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise FileError(f"{str(file)!r} cannot be read: {error}.") from error
    if not isinstance(found, dict):
        raise FileError(f"{str(file)!r} holds no JSON object.")
    return found


def _data_files(folder: Path) -> list[Path]:
    """Return the files of the rows, in their order."""
    state = _json(folder / _STATE)
    files = state.get("_data_files")
    listed = files if isinstance(files, list) else []
    names = [one.get("filename") for one in listed if isinstance(one, dict)]
    if not names or not all(map(_is_name, names)):
        raise FileError(f"{str(folder / _STATE)!r} does not name the files of the rows.")
    if state.get("_indices_data_files"):
        raise FileError(
            f"{str(folder)!r} was saved with a list of selected rows, as old versions of datasets "
            "do; load it and save it again with a current one."
        )
    return [folder / str(name) for name in names]


def _stream(file: Path, limit: int | None) -> Any:
    """Return the rows of one file, which are mapped into memory where all are wanted."""
    import pyarrow as pa

    check_regular(file)
    with pa.memory_map(str(file)) as mapped, pa.ipc.open_stream(mapped) as stream:
        if limit is None:
            return stream.read_all()
        filled = (batch for batch in stream if batch.num_rows)
        return pa.Table.from_batches(islice(filled, 1), stream.schema)


# ---- Classes ------------------------------------------------------------------------------------


def _named(array: Any, feature: Any, name: str, folder: Path, *, in_list: bool = False) -> Any:
    """Return an array with the names of classes in the place of their numbers, at any depth."""
    import pyarrow as pa

    kind = array.type
    if isinstance(feature, list) and len(feature) == 1:  # how old versions write a list
        feature = {"feature": feature[0]}
    if not isinstance(feature, dict):
        return array
    inside = feature.get("feature")
    if pa.types.is_struct(kind):
        # A list of objects is an object of lists here.
        lists = inside if isinstance(inside, dict) and "_type" not in inside else None
        known = {n: {"feature": f} for n, f in lists.items()} if lists else feature
        names = [kind.field(k).name for k in range(kind.num_fields)]
        parts = [_named(array.field(k), known.get(n), n, folder) for k, n in enumerate(names)]
        return pa.StructArray.from_arrays(parts, names, mask=array.is_null())
    if pa.types.is_fixed_size_list(kind):
        array = array.cast(pa.list_(kind.value_type))
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        values = _named(array.values, inside, name, folder, in_list=True)
        return type(array).from_arrays(array.offsets, values, mask=array.is_null())
    if feature.get("_type") == "ClassLabel" and pa.types.is_integer(kind):
        named = _names_of(array, feature.get("names"), name, folder)
        if in_list or not any(_as_one_label(each) != each for each in feature["names"]):
            return named
        return pa.array([one and _as_one_label(one) for one in named.to_pylist()], pa.string())
    return array


def _names_of(codes: Any, names: object, column: str, folder: Path) -> Any:
    """Return the names of the classes with these numbers; null for -1."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise FileError(
            f"{str(folder / _INFO)!r}: the names of the classes of {column!r} are no list of text."
        )
    codes = pc.if_else(pc.equal(codes, -1), pa.scalar(None, codes.type), codes)
    lowest, highest = pc.min_max(codes).as_py().values()
    if lowest is not None and not 0 <= lowest <= highest < len(names):
        raise FileError(
            f"{str(folder)!r}, column {column!r}: {lowest if lowest < 0 else highest} is not the "
            f"number of a class; there are 0 to {len(names) - 1}."
        )
    return pa.array(names, pa.string()).take(codes)


def _as_one_label(name: str) -> str:
    """Return the name of a class, in quotes where it would be read as several labels."""
    if not set(name) & set(',;|"') and not name.startswith(("[", "{", "(")):
        return name
    return '"' + name.replace('"', '""') + '"'
