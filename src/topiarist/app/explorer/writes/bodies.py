"""What may be told by POST, as a form or as JSON: the same names, the same meaning, one description for both."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal

from fastapi.exceptions import RequestValidationError
from pydantic import Field, TypeAdapter, ValidationError
from starlette.datastructures import FormData, UploadFile

from topiarist.app.explorer.pages.judging.review import ENOUGH
from topiarist.app.explorer.pages.shape import Kind
from topiarist.app.explorer.pages.topic import Show
from topiarist.app.explorer.web.failures import JSON
from topiarist.store.marks import LONGEST_NOTE, LONGEST_PASSAGE
from topiarist.text.readers.making import storable

Topic = Annotated[int, Field(ge=0, lt=10**9)]
Id = Annotated[str, Field(max_length=10_000)]
State = Annotated[str, Field(min_length=1, max_length=200, description="what the page or its data calls ``state``")]
Label = Annotated[str, Field(max_length=10_000)]
Back = Annotated[str, Field(max_length=20_000, description="the page to go to afterwards")]
Token = Annotated[str, Field(max_length=200, description="in forms; other clients send it as a header")]
SEVERAL = ("label", "others")  # fields that may be told more than once
URLENCODED, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"


@dataclass(frozen=True, kw_only=True)
class Body:
    """What every write may tell."""

    token: Token = ""
    back: Back = ""


@dataclass(frozen=True, kw_only=True)
class Seen(Body):
    """A change of what somebody saw: of another state nothing is changed."""

    state: State


@dataclass(frozen=True, kw_only=True)
class TakenBack(Seen):
    """The last step, to be undone."""

    sure: Annotated[bool, Field(description="categories that were learned are forgotten only if this is told")] = False


@dataclass(frozen=True, kw_only=True)
class Marks(Seen):
    """Marks of one document, or of all documents of a topic that a list shows."""

    document: Id | None = None
    topic: Topic | None = None
    show: Show = "all"
    sure: Annotated[bool, Field(description="more documents than a page shows are marked only if this is told")] = False


@dataclass(frozen=True, kw_only=True)
class Tagged(Marks):
    """A tag, to be given or taken away."""

    tag: Annotated[str, Field(min_length=1, max_length=1_000)]


@dataclass(frozen=True, kw_only=True)
class ReadMarks(Marks):
    """Read, or not."""

    unread: bool = False


@dataclass(frozen=True, kw_only=True)
class Noted(Seen):
    """A note on a passage of a document's text, another note on it, an empty one, or the last change undone."""

    document: Id
    does: Literal["write", "change", "undo"] = "write"
    quote: Annotated[str, Field(max_length=LONGEST_PASSAGE, description="the passage, as it stands in the text")] = ""
    before: Annotated[str, Field(max_length=400, description="what stands in front of it")] = ""
    near: Annotated[int, Field(ge=0, lt=2**53, description="where in the text it begins, or nearly")] = 0
    note: Annotated[str, Field(max_length=4 * LONGEST_NOTE)] = ""
    passage: Annotated[int, Field(ge=0, lt=2**53, description="of the note that is changed")] = 0
    number: Annotated[int, Field(ge=0, lt=2**53, description="of the last change that was seen")] = 0


@dataclass(frozen=True, kw_only=True)
class Removed(Seen):
    """A document that shall leave, or all that a query finds by its words, perhaps under a topic."""

    document: Id | None = None
    query: Annotated[str, Field(max_length=2_000)] = ""
    topic: Topic | None = None
    sure: Annotated[bool, Field(description="nothing is removed before this is told")] = False


@dataclass(frozen=True, kw_only=True)
class SearchToSave(Seen):
    """A query that shall be kept under a name."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    query: Annotated[str, Field(min_length=1, max_length=2_000)]
    by: Literal["words", "meaning", "both"] = "both"
    topic: Topic | None = None
    sure: Annotated[bool, Field(description="one of this name is replaced only after this is told")] = False


@dataclass(frozen=True, kw_only=True)
class SearchToDelete(Seen):
    """A saved search that shall go."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    sure: Annotated[bool, Field(description="nothing is deleted before this is told")] = False


@dataclass(frozen=True, kw_only=True)
class Edited(Seen):
    """An edit of the tree; see ``shape.Ask``."""

    edit: Kind
    topic: Topic | None = None
    name: Annotated[str, Field(max_length=400)] = ""
    note: Annotated[str, Field(max_length=20_000)] = ""
    other: Topic | None = None
    others: Annotated[tuple[Topic, ...], Field(max_length=500)] = ()
    into: Annotated[int, Field(ge=2, le=100)] = 2
    below: bool = False
    document: Id = ""
    words: Annotated[str, Field(max_length=2_000)] = ""
    refit: Annotated[bool, Field(description="fit the tree when this is done")] = False


@dataclass(frozen=True, kw_only=True)
class Judgement(Seen):
    """What somebody says of the labels of a document, after the last judgement of it that they saw."""

    document: Id
    does: Literal["accept", "move", "leave", "back"]
    number: Annotated[int, Field(ge=0, lt=10**9, description="of the last judgement that was seen")] = 0
    label: Annotated[tuple[Label, ...], Field(max_length=1_000, description="the labels that it shall have")] = ()
    to: Annotated[Label, Field(description="another label, that it shall have too, or instead")] = ""


@dataclass(frozen=True, kw_only=True)
class Reviewed(Seen):
    """What somebody answers in a review, after the last answer that they saw; ``undo`` takes that one back."""

    review: Annotated[str, Field(min_length=1, max_length=1_000, description="the label that is reviewed for")]
    does: Literal["y", "n", "skip", "undo"]
    document: Id = ""
    number: Annotated[int, Field(ge=0, lt=2**53, description="of the last answer that was seen")] = 0
    query: Annotated[str, Field(max_length=2_000)] = ""
    target: Annotated[float, Field(ge=0.5, le=0.999)] = ENOUGH
    confidence: Annotated[float, Field(ge=0.5, le=0.999)] = ENOUGH


@dataclass(frozen=True, kw_only=True)
class Brought(Body):
    """Documents to be placed: a text, and in a form of several parts files as well."""

    text: str = ""
    rho: Annotated[float, Field(ge=0, lt=1)] = 0.9
    files: tuple[Any, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Kept(Body):
    """Documents that were placed, to be stored."""

    key: Annotated[str, Field(min_length=1, max_length=200)]
    dates: Literal["auto", "day-first", "month-first"] = "auto"


@cache
def _adapter(kind: type) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def of_form(form: FormData) -> dict[str, Any]:
    """The values of a form; a field that was left empty says nothing."""
    told: dict[str, Any] = {name: value for name, value in form.items() if isinstance(value, str) and value}
    files = [one for one in form.getlist("files") if isinstance(one, UploadFile) and one.filename]
    lists = {
        name: [storable(one) for one in form.getlist(name) if isinstance(one, str) and one]
        for name in SEVERAL
        if name in told
    }
    told = {name: storable(value) for name, value in told.items() if name not in (*SEVERAL, "files")}
    return {**told, **lists, "files": files}


def of_json(given: Any) -> dict[str, Any]:
    """The values of a JSON object. Files come in forms."""
    if not isinstance(given, dict):
        raise RequestValidationError([{"loc": ("body",), "msg": "expected a JSON object", "type": "value_error"}])
    kept = {name: value for name, value in given.items() if value is not None and name != "files"}
    return {name: _storable(value) for name, value in kept.items()}


def _storable(value: Any) -> Any:
    if isinstance(value, list):
        return [_storable(one) for one in value]
    return storable(value) if isinstance(value, str) else value


def checked(kind: type, told: dict[str, Any]) -> Any:
    """The body, or an error that names what is wrong with it."""
    try:
        return _adapter(kind).validate_python(told)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_input=False, include_url=False)) from error


def described(kind: type) -> dict[str, Any]:
    """The body as OpenAPI describes it."""
    plain = _adapter(kind).json_schema()
    parts = {**plain, "properties": dict(plain["properties"])}
    if parts["properties"].pop("files", None) is not None:
        plain = {**parts, "properties": dict(parts["properties"])}
        parts["properties"]["files"] = {"type": "array", "items": {"type": "string", "format": "binary"}}
    contents = {JSON: plain, URLENCODED: plain, MULTIPART: parts}
    return {"required": True, "content": {name: {"schema": schema} for name, schema in contents.items()}}
