"""Bodies of POST requests, as a form or as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Literal

from fastapi.exceptions import RequestValidationError
from pydantic import Field, TypeAdapter, ValidationError
from starlette.datastructures import FormData, UploadFile

from topiarist.storage.marks import MAX_NOTE_LENGTH, MAX_PASSAGE_LENGTH
from topiarist.text.characters import to_storable
from topiarist.text.readers import Columns
from topiarist.text.readers.columns import ROLES
from topiarist.web.http.failures import JSON
from topiarist.web.pages.review import ENOUGH
from topiarist.web.pages.shape import EditForm, Kind
from topiarist.web.pages.topic import Show

Topic = Annotated[int, Field(ge=0, lt=10**9)]
Id = Annotated[str, Field(max_length=10_000)]
State = Annotated[str, Field(min_length=1, max_length=200, description="``state`` of the page or of its data")]
COLUMN = "column of tables; default: column of the collection; `none`: no column, except for the text"
Column = Annotated[str, Field(max_length=1_000, description=COLUMN)]
Label = Annotated[str, Field(max_length=10_000)]
Back = Annotated[str, Field(max_length=20_000, description="the page to go to afterwards")]
Token = Annotated[str, Field(max_length=200, description="in forms; other clients send it as a header")]
REPEATABLE_FIELDS = ("label", "others")  # fields that may be told more than once
URLENCODED, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"


@dataclass(frozen=True, kw_only=True)
class Body:
    """Fields of every form."""

    token: Token = ""
    back: Back = ""


@dataclass(frozen=True, kw_only=True)
class StateBody(Body):
    """Change of the state that the user saw; other states are not changed."""

    state: State


@dataclass(frozen=True, kw_only=True)
class TakenBack(StateBody):
    """Request to undo the last edit."""

    sure: Annotated[bool, Field(description="required to delete learned categories")] = False


@dataclass(frozen=True, kw_only=True)
class Marks(StateBody):
    """Marks of one document, or of all documents in the list of a topic."""

    document: Id | None = None
    topic: Topic | None = None
    show: Show = "all"
    sure: Annotated[bool, Field(description="required to mark more documents than a page shows")] = False


@dataclass(frozen=True, kw_only=True)
class Tagged(Marks):
    """Request to add or remove a tag."""

    tag: Annotated[str, Field(min_length=1, max_length=1_000)]


@dataclass(frozen=True, kw_only=True)
class ReadMarks(Marks):
    """Request to mark documents as read or unread."""

    unread: bool = False


@dataclass(frozen=True, kw_only=True)
class Noted(StateBody):
    """Request to write, change or undo a note on a passage."""

    document: Id
    does: Literal["write", "change", "undo"] = "write"
    quote: Annotated[str, Field(max_length=MAX_PASSAGE_LENGTH, description="passage with the spelling of the text")] = (
        ""
    )
    before: Annotated[str, Field(max_length=400, description="text before the passage")] = ""
    near: Annotated[int, Field(ge=0, lt=2**53, description="approximate position in the text")] = 0
    note: Annotated[str, Field(max_length=4 * MAX_NOTE_LENGTH)] = ""
    passage: Annotated[int, Field(ge=0, lt=2**53, description="of the note that is changed")] = 0
    number: Annotated[int, Field(ge=0, lt=2**53, description="of the last change that was seen")] = 0


@dataclass(frozen=True, kw_only=True)
class Removed(StateBody):
    """Request to remove a document or all documents of a query."""

    document: Id | None = None
    query: Annotated[str, Field(max_length=2_000)] = ""
    topic: Topic | None = None
    sure: Annotated[bool, Field(description="required to remove documents")] = False


@dataclass(frozen=True, kw_only=True)
class SearchToSave(StateBody):
    """Request to save a query under a name."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    query: Annotated[str, Field(min_length=1, max_length=2_000)]
    by: Literal["words", "meaning", "both"] = "both"
    topic: Topic | None = None
    sure: Annotated[bool, Field(description="required to replace a search with the same name")] = False


@dataclass(frozen=True, kw_only=True)
class SearchToDelete(StateBody):
    """Request to delete a saved search."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    sure: Annotated[bool, Field(description="required to delete")] = False


@dataclass(frozen=True, kw_only=True)
class Edited(StateBody, EditForm):
    """An edit of the tree."""

    edit: Kind = field()
    refit: Annotated[bool, Field(description="fit the tree when this is done")] = False


@dataclass(frozen=True, kw_only=True)
class Judgement(StateBody):
    """Judgement of the labels of a document, with the number of the last judgement that the user saw."""

    document: Id
    does: Literal["accept", "move", "leave", "back"]
    number: Annotated[int, Field(ge=0, lt=10**9, description="of the last judgement that was seen")] = 0
    label: Annotated[tuple[Label, ...], Field(max_length=1_000, description="the labels that it shall have")] = ()
    to: Annotated[Label, Field(description="another label, that it shall have too, or instead")] = ""


@dataclass(frozen=True, kw_only=True)
class LearnBody(StateBody):
    """Request to learn categories."""

    column: Annotated[str, Field(max_length=1_000, description="column with labels; empty: labels of documents")] = ""
    again: Annotated[bool, Field(description="use the column and the settings of the last learning")] = False


@dataclass(frozen=True, kw_only=True)
class ReviewAnswerBody(StateBody):
    """Answer in a review, with the number of the last answer that the user saw."""

    review: Annotated[str, Field(min_length=1, max_length=1_000, description="the label that is reviewed for")]
    does: Literal["y", "n", "skip", "undo"]
    document: Id = ""
    number: Annotated[int, Field(ge=0, lt=2**53, description="of the last answer that was seen")] = 0
    query: Annotated[str, Field(max_length=2_000)] = ""
    target: Annotated[float, Field(ge=0.5, le=0.999)] = ENOUGH
    confidence: Annotated[float, Field(ge=0.5, le=0.999)] = ENOUGH


@dataclass(frozen=True, kw_only=True)
class UploadBody(Body):
    """Documents to file: a text, or files of a form with several parts."""

    text: str = ""
    rho: Annotated[float, Field(ge=0, lt=1)] = 0.5
    files: tuple[Any, ...] = ()
    text_column: Column | None = None
    title_column: Column | None = None
    id_column: Column | None = None
    date_column: Column | None = None
    label_column: Column | None = None

    @property
    def columns(self) -> Columns:
        return Columns(**{role: getattr(self, f"{role}_column") for role in ROLES})


@dataclass(frozen=True, kw_only=True)
class StoreBody(Body):
    """Request to store documents that were previewed."""

    key: Annotated[str, Field(min_length=1, max_length=200)]
    dates: Annotated[
        Literal["auto", "day-first", "month-first"] | None, Field(description="without it, as the collection was grown")
    ] = None


@cache
def _create_adapter(kind: type) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def parse_form(form: FormData) -> dict[str, Any]:
    """Return the values of a form without empty fields."""
    values: dict[str, Any] = {name: value for name, value in form.items() if isinstance(value, str) and value}
    files = [item for item in form.getlist("files") if isinstance(item, UploadFile) and item.filename]
    lists = {
        name: [to_storable(item) for item in form.getlist(name) if isinstance(item, str) and item]
        for name in REPEATABLE_FIELDS
        if name in values
    }
    values = {name: to_storable(value) for name, value in values.items() if name not in (*REPEATABLE_FIELDS, "files")}
    return {**values, **lists, "files": files}


def parse_json(values: Any) -> dict[str, Any]:
    """Return the values of a JSON object without files. Other JSON is a validation error."""
    if not isinstance(values, dict):
        raise RequestValidationError([{"loc": ("body",), "msg": "expected a JSON object", "type": "value_error"}])
    present = {name: value for name, value in values.items() if value is not None and name != "files"}
    return {name: _make_storable(value) for name, value in present.items()}


def _make_storable(value: Any) -> Any:
    if isinstance(value, list):
        return [_make_storable(item) for item in value]
    return to_storable(value) if isinstance(value, str) else value


def validate_body(kind: type, values: dict[str, Any]) -> Any:
    """Return a body built from its values. An invalid field is a validation error that names it."""
    try:
        return _create_adapter(kind).validate_python(values)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_input=False, include_url=False)) from error


def describe_body(kind: type) -> dict[str, Any]:
    """Return the OpenAPI description of a body."""
    plain = _create_adapter(kind).json_schema()
    parts = {**plain, "properties": dict(plain["properties"])}
    if parts["properties"].pop("files", None) is not None:
        plain = {**parts, "properties": dict(parts["properties"])}
        parts["properties"]["files"] = {"type": "array", "items": {"type": "string", "format": "binary"}}
    contents = {JSON: plain, URLENCODED: plain, MULTIPART: parts}
    return {"required": True, "content": {name: {"schema": schema} for name, schema in contents.items()}}
