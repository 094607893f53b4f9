"""What readers share: which question, what a blank means."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Literal

from setagree.errors import (
    DataError,
    OptionError,
    SeveralQuestionsError,
    did_you_mean,
    listing,
    option,
)
from setagree.exports.format import Answers, Request
from setagree.exports.nodes import Node, shown
from setagree.wording.label_sets import Label


def choose_question(
    asked: str | None, found: Iterable[str], file: str, name: str = "question"
) -> str | None:
    """Return the question that is asked for, or the only one, or None if there is none at all."""
    names = list(dict.fromkeys(found))
    if asked is not None and asked not in names:
        has = f"has {listing(names, limit=12)}" if names else "has none with answers"
        hint = did_you_mean(asked, names)
        raise OptionError(f"{option(name, asked)} is not in {file}; it {has}.{hint}")
    if asked is None and len(names) > 1:
        raise SeveralQuestionsError(
            f"{file} has answers to {len(names)} questions, {listing(names, limit=12)}; say which "
            f"with {option(name, names[0])}.",
            names,
        )
    return asked if asked is not None else next(iter(names), None)


def check_useless(request: Request, path: Path, *options: Literal["question", "roster"]) -> None:
    """Raise `OptionError` where an option is given that this format has no use for.

    It asks one question alone, or tells by itself who answered.
    """
    why = {"question": "has one question alone", "roster": "tells by itself who answered"}
    for name in options:
        if getattr(request, name) is not None:
            raise OptionError(f"{shown(path)} {why[name]}; drop {option(name)}.")


class Predicted:
    """The answers of models in an export, of which only those that are asked for are parsed."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.answers = Answers()

    def add(
        self,
        unit: Hashable,
        model: Node | None,
        parse: Callable[[], frozenset[Label] | None],
        place: str,
    ) -> None:
        """Add the answer of a model; one without a name is called "model"."""
        name = "model" if model is None or model.value == "" else model.name()
        labels = parse() if self.request.reads(name) else None
        self.answers.add(unit, name, labels, place)


def blank_answer(request: Request, where: Node, why: str) -> frozenset[Label] | None:
    """Return what the caller says a blank answer means: the empty set, or no annotation (None)."""
    if request.blank == "empty":
        return frozenset()
    if request.blank == "missing":
        return None
    raise DataError(
        f"{where}: {why}; say {option('blank', 'empty')} or {option('blank', 'missing')}."
    )


def unanswered(request: Request, where: Node, question: str | None) -> frozenset[Label] | None:
    """Return what the caller says that one of several questions means which has no answer."""
    why = f"no answer to {question!r}, which was left empty or not shown"
    return blank_answer(request, where, why)
