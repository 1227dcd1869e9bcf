"""Settings from the command line, the environment, ``topiarist.toml`` and defaults, with their origins.

topics = 12
stop-words = "en"

[grow]                  # only for this command
title-column = "subject"

A file that is found with the documents can set harmless options only; one that ``--config`` names can set more. Some
settings are no options: the command line refuses them. Commands without ``--config`` take only these, and only from the
environment.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import typer

from topiarist.cli.options import DECLARATION
from topiarist.cli.terminal.console import clean, speaks_unicode
from topiarist.display.formats import one_line
from topiarist.errors import UsageError

FILE = "topiarist.toml"
PREFIX = "TOPIARIST_"
TRUE = ("true", "1", "yes", "on")
# A settings file that is found may come with the documents from anywhere. It can set only these options. An option is
# here if it reads, writes, fetches and brings back nothing more, and hides no failure.
HARMLESS_SETTINGS = (
    "text_column", "title_column", "id_column", "date_column", "label_column", "columns", "dates", "xml_path",
    "exclude", "limit", "language", "languages", "stop_words", "stem", "phrases", "numbers", "min_documents",
    "keep_repeated", "passages", "fields", "topics", "model", "growth", "topic_mix", "no_headings", "online",
    "seed", "threads", "memory", "device", "wait", "words", "depth", "verbose",
)  # fmt: skip
# A file named by --config and the environment can set these as well. Links lead out of the folder, patterns make any
# file a text, and OCR and encoders run and load models.
RESTRICTED_SETTINGS = ("follow_links", "include", "ocr", "encoder", "take_removed", "max_failures")
# These concern one run, choose files and programs, or silence messages. They are no settings at all.
ONLY_TYPED = (
    "sources", "config", "show_config", "debug", "force", "resume", "dry_run", "output", "figure", "labels",
    "hierarchy", "quiet", "json", "vectors", "embed", "cluster",
)  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """A value, and where it came from."""

    value: Any
    origin: str


def resolve_settings(ctx: typer.Context, parameters: Mapping[str, Any]) -> dict[str, Setting]:
    """Return each option with value and origin. Read the settings file and print its name to stderr."""
    with_file = "config" in parameters
    path = _find_settings_file(parameters.get("config"), parameters.get("sources") or ()) if with_file else None
    file_values = _read_settings(path, ctx) if path is not None else {}
    if path is not None and parameters.get("config") is None:
        _check_harmless(file_values, path)
    if file_values and not any(map(parameters.get, ("quiet", "json", "show_config"))):
        print(f"Settings are read from {clean(str(path))}: {', '.join(map(key, file_values))}", file=sys.stderr)

    def resolve(parameter: Any) -> Setting:
        name = parameter.name
        if ctx.get_parameter_source(name).name == "COMMANDLINE":  # type: ignore[union-attr]
            if is_setting_only(parameter):
                raise _create_option_error(parameter, parameters[name], with_file=with_file)
            return Setting(parameters[name], "typed")
        if (text := _read_variable(parameter, with_file=with_file)) is not None:
            return Setting(_parse_value(ctx, parameter, text, variable(name)), f"environment, {variable(name)}")
        if name in file_values:
            return Setting(_parse_value(ctx, parameter, file_values[name], f"{key(name)} in {path}"), str(path))
        return Setting(parameters[name], "default")

    return {item.name: resolve(item) for item in ctx.command.params if item.name and item.name in parameters}


def format_assignments(options: Any, typed: Sequence[str]) -> list[str]:
    """Return ``env`` and variables for options that were not typed; empty without any."""
    names = {part.partition("=")[0] for part in typed}
    assignments = []
    for option in fields(options):
        value = getattr(options, option.name)
        spellings = {f"--{key(option.name)}", *(getattr(option.metadata[DECLARATION], "param_decls", None) or ())}
        if option.name not in ONLY_TYPED and value != option.default and not names & spellings:
            assignments.append(f"{variable(option.name)}={_format_variable_value(value)}")
    return ["env", *assignments] if assignments else []


def is_setting_only(parameter: Any) -> bool:
    """Return whether a file or the environment sets a parameter, and the command line does not."""
    return getattr(parameter, "hidden", False) and parameter.name not in ONLY_TYPED


def show(settings: Mapping[str, Setting], *, as_json: bool) -> None:
    """Print each setting with its value and origin, or all as JSON."""
    printed = {key(name): setting for name, setting in settings.items() if name not in ("show_config", "debug")}
    if as_json:
        body = {name: {"value": setting.value, "from": setting.origin} for name, setting in printed.items()}
        print(json.dumps(body, indent=2))
        return
    texts = {name: _format_toml(setting.value) for name, setting in printed.items()}
    widest, longest = max(map(len, texts)), max(map(len, texts.values()))
    for name, value in texts.items():
        print(f"{name:{widest}} = {value:{longest}}  # {printed[name].origin}")


def key(name: str) -> str:
    """Return the name of an option as it is typed and as it is written in the file."""
    return name.replace("_", "-")


def variable(name: str) -> str:
    """Return the variable of the environment that sets an option."""
    return f"{PREFIX}{name.upper()}"


def _read_variable(parameter: Any, *, with_file: bool) -> str | None:
    """Return the value that an environment variable sets, or None.

    Commands without a settings file read only the parameters that are not options.
    """
    allowed = is_setting_only(parameter) or (with_file and parameter.name not in ONLY_TYPED)
    return (os.environ.get(variable(parameter.name)) or None) if allowed else None


def _create_option_error(parameter: Any, value: Any, *, with_file: bool) -> UsageError:
    """Return the error for a setting typed as an option, with the file line to write instead."""
    name = parameter.name
    file = "a file that --config names" if name in RESTRICTED_SETTINGS else FILE
    where = f"{key(name)} = {_format_toml(value)} in {file}, or " if with_file else ""
    return UsageError(
        f"--{key(name)} is a setting, not an option of the command line",
        hint=f"Set {where}{variable(name)}={shlex.quote(_format_variable_value(value))}.",
    )


def _format_variable_value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return shlex.join(value)
    return str(value).lower() if value is True else str(value)


def _find_settings_file(config: str | None, sources: Any) -> Path | None:
    """Return the file of ``--config``, or the one near the first source, or None. Raise UsageError."""
    if config is not None:
        if not Path(config).is_file():
            raise UsageError(
                f"there is no settings file at {config}", hint=f"Pass an existing file, such as --config {FILE}."
            )
        return Path(config)
    source = Path(sources[0]) if sources else Path()
    folders = [source, source.parent] if source.is_dir() else [source.parent]
    return next((folder / FILE for folder in folders if (folder / FILE).is_file()), None)


def _read_settings(path: Path, ctx: typer.Context) -> dict[str, Any]:
    """Read the values of this command in the file; its table overrides the top level. Raise UsageError."""
    try:
        body = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not a settings file: {error}", hint="Write topics = 12 on its own line.") from None
    commands = getattr(ctx.parent.command, "commands", {}) if ctx.parent else {}
    section = body.get(ctx.info_name or "", {})
    section = section if isinstance(section, dict) else {}  # `topics` is a command and a setting
    top = {name: value for name, value in body.items() if not isinstance(value, dict)}
    if unknown := next((name for name in body if name not in top and name not in commands), None):
        raise _create_unknown_error(unknown, commands, path, "table")
    parameters = {parameter.name for parameter in ctx.command.params}
    anywhere = parameters | {parameter.name for command in commands.values() for parameter in command.params}
    values = {}
    for table, allowed in ((top, anywhere), (section, parameters)):
        for name, value in table.items():
            plain = name.replace("-", "_")
            if plain not in allowed:
                raise _create_unknown_error(
                    name, [key(item) for item in sorted(allowed - {*ONLY_TYPED})], path, "setting"
                )
            if plain in ONLY_TYPED:
                raise UsageError(
                    f"{path} sets {name}, which is only an option of the command line",
                    hint=f"Use --{key(plain)} in the command.",
                )
            values[plain] = value
    return values


def _check_harmless(values: Mapping[str, Any], path: Path) -> None:
    """Raise UsageError if a file next to the documents sets more than harmless settings."""
    for name, value in values.items():
        if name not in HARMLESS_SETTINGS:
            reason = f"{key(name)}, which only a file named by --config can set"
        elif name == "stop_words" and not _is_stop_list(value):
            reason = f"{key(name)} to {value!r}, which is a path or not the name of a stop list"
        elif name == "fields" and value not in ("auto", "none"):
            reason = f"{key(name)} to {value!r}, which is a path"
        else:
            continue
        raise UsageError(
            f"{path} was found with the documents and sets {reason}",
            hint=f"Pass --config {shlex.quote(str(path))} if you trust this file, or remove {key(name)} from it.",
        )


def _is_stop_list(value: Any) -> bool:
    """Return whether a value of stop-words names a list and no file, such as a link called like a language."""
    from topiarist.text.stop_words import has_stop_words

    name = str(value)
    return name in ("none", "auto") or (name.isalpha() and has_stop_words(name) and not Path(name).exists())


def _create_unknown_error(name: str, names: Any, path: Path, kind: str) -> UsageError:
    """Return the error for an unknown name in the file, with the most similar known one."""
    from topiarist.text.spelling import find_similar_names

    proposals = find_similar_names(name.replace("_", "-"), names, 1)
    return UsageError(
        f"{path} has a {kind} that does not exist: {name}",
        hint=f"Use {proposals[0]}." if proposals else "Use a setting that --show-config lists.",
    )


def _parse_value(ctx: typer.Context, parameter: Any, value: Any, where: str) -> Any:
    """Return a value parsed as the option does. Raise UsageError with its origin ``where``."""
    name = parameter.opts[0]
    if parameter.multiple:
        parts = shlex.split(value) if isinstance(value, str) else value
        typed = [text for part in parts for text in (name, str(part))]
    elif isinstance(value, list | dict):
        raise UsageError(f"{where} must be one value, got {value!r}")
    elif getattr(parameter, "count", False):
        typed = [name] * int(value)
    elif parameter.is_flag:
        typed = [name] if str(value).lower() in TRUE else []
    else:
        typed = [name, str(value)]
    try:
        arguments = ["source" for item in ctx.command.params if item.param_type_name == "argument"]
        with ctx.command.make_context(ctx.info_name, [*typed, "--", *arguments], parent=ctx.parent) as context:
            return context.params[parameter.name]
    except (typer.Exit, SystemExit):
        raise
    except Exception as error:  # of the parser, whose classes have moved between versions
        reason = getattr(error, "message", None) or str(error)
        hint = one_line(parameter.help) if is_setting_only(parameter) else f"Read about {name} in --help."
        raise UsageError(f"{where}: {reason}", hint=hint) from None


def _format_toml(value: Any) -> str:
    if value is None:
        return '""'
    return json.dumps(value, ensure_ascii=not speaks_unicode())
