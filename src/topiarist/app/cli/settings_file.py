"""Settings: what was typed, else the environment, else ``topiarist.toml``, else the default; and where each came from.

topics = 12
stop-words = "en"

[grow]                  # only for this command
title-column = "subject"
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from topiarist.app.cli.terminal.console import clean, speaks_unicode
from topiarist.errors import UsageError
from topiarist.text.spelling import alike

FILE = "topiarist.toml"
PREFIX = "TOPIARIST_"
TRUE = ("true", "1", "yes", "on")
# What is said about one run only, and cannot be a setting.
# A file of settings may come with documents from anywhere, so it can neither choose what is read or written beside them
# nor silence what is said; nor can it name programs to run, or a cluster, which runs programs too.
ONLY_TYPED = (
    "sources", "config", "show_config", "debug", "force", "resume", "dry_run", "output", "figure", "curve", "labels",
    "hierarchy", "quiet", "json", "vectors", "embed", "cluster",
)  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """A value, and where it came from."""

    value: Any
    origin: str


def settled(ctx: typer.Context, given: Mapping[str, Any]) -> dict[str, Setting]:
    """Every option with its value, and where that came from; a setting that nobody knows is an error."""
    path = _file(given.get("config"), given.get("sources") or ())
    written = _written(path, ctx) if path is not None else {}
    if written and not (given.get("quiet") or given.get("json") or given.get("show_config")):
        print(f"Settings are read from {clean(str(path))}: {', '.join(map(key, written))}", file=sys.stderr)
    found = {}
    for parameter in ctx.command.params:
        name = parameter.name
        if name is None or name not in given:
            continue
        variable = f"{PREFIX}{name.upper()}"
        if ctx.get_parameter_source(name).name == "COMMANDLINE":  # type: ignore[union-attr]
            found[name] = Setting(given[name], "typed")
        elif name not in ONLY_TYPED and os.environ.get(variable):
            found[name] = Setting(_taken(ctx, parameter, os.environ[variable], variable), f"environment, {variable}")
        elif name in written:
            found[name] = Setting(_taken(ctx, parameter, written[name], f"{key(name)} in {path}"), str(path))
        else:
            found[name] = Setting(given[name], "default")
    return found


def show(known: Mapping[str, Setting], *, as_json: bool) -> None:
    """Print the settings, one on each line with where it came from."""
    kept = {key(name): setting for name, setting in known.items() if name not in ("show_config", "debug")}
    if as_json:
        print(json.dumps({name: {"value": one.value, "from": one.origin} for name, one in kept.items()}, indent=2))
        return
    shown = {name: _toml(one.value) for name, one in kept.items()}
    widest, longest = max(map(len, shown)), max(map(len, shown.values()))
    for name, value in shown.items():
        print(f"{name:{widest}} = {value:{longest}}  # {kept[name].origin}")


def key(name: str) -> str:
    """An option as people write it."""
    return name.replace("_", "-")


def _file(config: str | None, sources: Any) -> Path | None:
    """The settings file that was named, or the one in the first source or beside it."""
    if config is not None:
        if not Path(config).is_file():
            raise UsageError(f"there is no settings file at {config}", hint=f"--config {FILE}")
        return Path(config)
    source = Path(sources[0]) if sources else Path()
    folders = [source, source.parent] if source.is_dir() else [source.parent]
    return next((folder / FILE for folder in folders if (folder / FILE).is_file()), None)


def _written(path: Path, ctx: typer.Context) -> dict[str, Any]:
    """What the file says to this command: its own table before what stands at the top."""
    try:
        body = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not a settings file: {error}", hint="topics = 12, on a line of its own") from None
    commands = getattr(ctx.parent.command, "commands", {}) if ctx.parent else {}
    own = body.get(ctx.info_name or "", {})
    own = own if isinstance(own, dict) else {}  # `topics` is a command and a setting
    top = {name: value for name, value in body.items() if not isinstance(value, dict)}
    for name, value in body.items():
        if isinstance(value, dict) and name not in commands:
            raise _unknown(name, commands, path, "table")
    anywhere = {parameter.name for command in commands.values() for parameter in command.params} or set()
    here = {parameter.name for parameter in ctx.command.params}
    written = {}
    for table, allowed in ((top, anywhere | here), (own, here)):
        for name, value in table.items():
            plain = name.replace("-", "_")
            if plain in allowed and plain in ONLY_TYPED:
                raise UsageError(f"{path} sets {name}, which can only be typed", hint=f"--{key(plain)} in the command")
            if plain not in allowed:
                raise _unknown(
                    name, sorted(key(one) for one in allowed if one and one not in ONLY_TYPED), path, "setting"
                )
            written[plain] = value
    return written


def _unknown(name: str, known: Any, path: Path, what: str) -> UsageError:
    near = alike(name.replace("_", "-"), known, 1)
    return UsageError(
        f"{path} has a {what} that does not exist: {name}", hint=near[0] if near else "--show-config lists all settings"
    )


def _taken(ctx: typer.Context, parameter: Any, value: Any, where: str) -> Any:
    """A value as the option itself would take it: as if it had been typed, alone."""
    name = parameter.opts[0]
    if parameter.multiple:
        typed = [part for one in (shlex.split(value) if isinstance(value, str) else value) for part in (name, str(one))]
    elif isinstance(value, list | dict):
        raise UsageError(f"{where} must be one value, got {value!r}")
    elif getattr(parameter, "count", False):
        typed = [name] * int(value)
    elif parameter.is_flag:
        typed = [name] if str(value).lower() in TRUE else []
    else:
        typed = [name, str(value)]
    try:
        with ctx.command.make_context(ctx.info_name, [*typed, "--", "source"], parent=ctx.parent) as alone:
            return alone.params[parameter.name]
    except (typer.Exit, SystemExit):
        raise
    except Exception as error:  # of the parser, whose classes have moved between versions
        what = getattr(error, "message", None) or str(error)
        raise UsageError(f"{where}: {what}", hint=f"see {name} in --help") from None


def _toml(value: Any) -> str:
    """A value as it would be written into the file; nothing is an empty string."""
    if value is None:
        return '""'
    return json.dumps(value, ensure_ascii=not speaks_unicode())
