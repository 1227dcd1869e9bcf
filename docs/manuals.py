"""Man pages and completions of shells, in ``packaging/share/``, made from the commands. The wheel brings them along.

A completion is a plain script: it starts no Python, and so answers at once.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import typer

from topiarist.cli.commands import COMMANDS, app
from topiarist.cli.settings_file import is_setting_only, variable
from topiarist.version import __version__

SHARE = Path(__file__).parents[1] / "packaging" / "share"
GROUP: Any = typer.main.get_command(app)
ABOUT = "Shape document collections into topic trees."


def files() -> dict[str, str]:
    """Every file by its path in ``packaging/share/``."""
    found = {"man/man1/topiarist.1": _whole_manual()}
    found |= {f"man/man1/topiarist-{name}.1": _manual(name) for name in COMMANDS}
    found["bash-completion/completions/topiarist"] = _bash()
    found["zsh/site-functions/_topiarist"] = _zsh()
    found["fish/vendor_completions.d/topiarist.fish"] = _fish()
    return found


def write() -> None:
    """Write them all, and nothing else."""
    shutil.rmtree(SHARE, ignore_errors=True)
    for place, text in files().items():
        path = SHARE / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    print(f"wrote packaging/share/: {len(COMMANDS) + 1} man pages, completions of three shells")


def options(command: Any) -> list[Any]:
    """The options of a command that are told to people."""
    return [one for one in command.params if one.param_type_name == "option" and not getattr(one, "hidden", False)]


def arguments(command: Any) -> list[Any]:
    """What a command is given beside options."""
    return [one for one in command.params if one.param_type_name == "argument"]


def spellings(option: Any) -> list[str]:
    """All ways to write an option, of a switch both."""
    return [*option.opts, *option.secondary_opts]


def takes_value(option: Any) -> bool:
    """Whether something has to follow it."""
    return not (option.is_flag or option.count)


def choices(option: Any) -> list[str]:
    """Return the values of an option with fixed names, which its placeholder lists: ``<a|b>``."""
    names = re.fullmatch(r"<([\w-]+(?:\|[\w-]+)+)>", option.metavar or "")
    return names[1].split("|") if names else []


def sentence(text: str | None) -> str:
    """A help text on one line."""
    return " ".join((text or "").split())


def first_sentence(text: str | None) -> str:
    """What a command does, shortly."""
    return re.split(r"(?<=[.:;]) |\n\n", sentence(text))[0].rstrip(".:;")


def _roff(text: str) -> str:
    """Text as man reads it: nothing of it is a request."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    plain = "".join(sign if sign.isascii() else f"\\[u{ord(sign):04X}]" for sign in plain)
    return "\n".join(f"\\&{line}" if line[:1] in (".", "'") else line for line in plain.splitlines())


def _head(name: str, about: str) -> list[str]:
    title = name.upper().replace("-", "\\-")
    return [
        f'.TH {title} 1 "" "topiarist {__version__}" "Topiarist"',
        ".SH NAME",
        f"{_roff(name)} \\- {_roff(about)}",
        ".SH SYNOPSIS",
    ]


def _whole_manual() -> str:
    lines = [*_head("topiarist", ABOUT.rstrip(".").lower()), ".B topiarist", "COMMAND [OPTIONS] [ARGUMENTS]"]
    lines += [".SH COMMANDS"]
    for name in COMMANDS:
        lines += [".TP", f".BR topiarist\\-{name} (1)", _roff(sentence(GROUP.commands[name].help))]
    lines += [".SH OPTIONS", *_options(options(GROUP))]
    lines += [".SH FILES", ".TP", ".I topiarist.toml", "Settings, beside the documents or in their folder."]
    return "\n".join([*lines, ""])


def _manual(name: str) -> str:
    command = GROUP.commands[name]
    given = " ".join(one.metavar or one.name.upper() for one in arguments(command))
    lines = [
        *_head(f"topiarist-{name}", first_sentence(command.help)),
        f".B topiarist {name}",
        f"{_roff(given)} [OPTIONS]",
    ]
    lines += [".SH DESCRIPTION", _roff(sentence(command.help))]
    for one in arguments(command):
        lines += [".TP", f".I {_roff(one.metavar or one.name.upper())}", _roff(sentence(one.help))]
    panels = dict.fromkeys(getattr(one, "rich_help_panel", None) for one in options(command))
    for panel in panels:
        mine = [one for one in options(command) if getattr(one, "rich_help_panel", None) == panel]
        lines += [f'.SH "{(panel or "Options").upper()}"', *_options(mine)]
    settings = [one for one in command.params if is_setting_only(one)]
    if settings:
        lines += [
            ".SH SETTINGS",
            _roff("Variables of the environment; of grow and topics also keys of topiarist.toml."),
        ]
        for one in settings:
            lines += [".TP", f".B {_roff(variable(one.name))}", _roff(sentence(one.help))]
    examples = [
        line.strip()
        for line in (command.epilog or "").splitlines()
        if "topiarist " in line.partition("#")[0] and line.strip()[:9].lower() == "topiarist"
    ]
    if examples:
        lines += [".SH EXAMPLES", ".nf", *map(_roff, examples), ".fi"]
    return "\n".join([*lines, ".SH SEE ALSO", ".BR topiarist (1)", ""])


def _options(several: list[Any]) -> list[str]:
    lines = []
    for one in several:
        value = f" {'|'.join(choices(one)) or one.metavar or one.name.upper()}" if takes_value(one) else ""
        lines += [
            ".TP",
            f".B {_roff(', '.join(spellings(one)))}{_roff(value.rstrip())}",
            _roff(sentence(one.help)) or ".",
        ]
    return lines


def _bash() -> str:
    """Commands, options, the values of options where they are few; else files."""
    cases, values = [], []
    for name in COMMANDS:
        mine = options(GROUP.commands[name])
        cases.append(f"        {name}) words='{' '.join(each for one in mine for each in spellings(one))} --help' ;;")
        for one in mine:
            known = spellings(one) if choices(one) else []
            values += [f"        '{name} {each}') words='{' '.join(choices(one))}' ;;" for each in known]
    return "\n".join(
        [
            "# Completions of topiarist for bash. Written by docs/generate.py.",
            "_topiarist() {",
            "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}",
            "    local command=${COMP_WORDS[1]} words=''",
            "    COMPREPLY=()",
            '    if [ "$COMP_CWORD" -eq 1 ]; then',
            f"        COMPREPLY=($(compgen -W '{' '.join(COMMANDS)} --help --version' -- \"$word\"))",
            "        return",
            "    fi",
            '    case "$command $before" in',
            *values,
            "    esac",
            '    if [ -z "$words" ] && [ "${word:0:1}" = - ]; then',
            '        case "$command" in',
            *(f"    {case}" for case in cases),
            "        esac",
            "    fi",
            '    [ -z "$words" ] || COMPREPLY=($(compgen -W "$words" -- "$word"))',
            "}",
            "complete -o bashdefault -o default -F _topiarist topiarist",
            "",
        ]
    )


def _quoted(text: str) -> str:
    return text.replace("'", "'\\''")


def _zsh() -> str:
    lines = ["#compdef topiarist", "# Completions of topiarist for zsh. Written by docs/generate.py.", ""]
    lines += ["_topiarist() {", "  local -a commands", "  commands=("]
    told = {name: first_sentence(GROUP.commands[name].help).replace(":", "\\:") for name in COMMANDS}
    lines += [f"    '{name}:{_quoted(text)}'" for name, text in told.items()]
    lines += ["  )", "  if (( CURRENT == 2 )); then", "    _describe command commands", "    return", "  fi"]
    lines += ["  case $words[2] in"]
    for name in COMMANDS:
        lines += [f"    {name}) _arguments \\"]
        for one in options(GROUP.commands[name]):
            said = _quoted(re.sub(r"([\[\]:])", r"\\\1", sentence(one.help)))
            value = f":{one.name}:({' '.join(choices(one))})" if choices(one) else f":{one.name}:_files"
            lines += [f"      '{each}[{said}]{value if takes_value(one) else ''}' \\" for each in spellings(one)]
        lines += ["      '*:file:_files' ;;"]
    return "\n".join([*lines, "  esac", "}", "", '_topiarist "$@"', ""])


def _fish() -> str:
    lines = ["# Completions of topiarist for fish. Written by docs/generate.py."]
    for name in COMMANDS:
        said = _quoted(first_sentence(GROUP.commands[name].help))
        lines.append(f"complete -c topiarist -n __fish_use_subcommand -f -a {name} -d '{said}'")
    for name in COMMANDS:
        for one in options(GROUP.commands[name]):
            for each in spellings(one):
                kind = f"-l {each[2:]}" if each.startswith("--") else f"-s {each[1:]}"
                value = f" -x -a '{' '.join(choices(one))}'" if choices(one) else " -r" if takes_value(one) else ""
                told = f"-d '{_quoted(sentence(one.help))}'"
                lines.append(f"complete -c topiarist -n '__fish_seen_subcommand_from {name}' {kind}{value} {told}")
    return "\n".join([*lines, ""])
