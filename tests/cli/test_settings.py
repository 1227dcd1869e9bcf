"""Settings: typed before the environment before ``topiarist.toml`` before the default."""

import json
from dataclasses import fields
from importlib import import_module

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from tests.cli.test_cli import written
from topiarist import CAM, Collection
from topiarist.cli.commands import COMMANDS, app
from topiarist.cli.settings_file import HARMLESS_SETTINGS, ONLY_TYPED, RESTRICTED_SETTINGS, is_setting_only
from topiarist.cli.source_stream import SourceOptions


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "notes")
    return tmp_path


def shown(*arguments, env=None):
    done = CliRunner().invoke(app, ["grow", "notes", "--show-config", "--json", *arguments], env=env)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_each_value_says_where_it_came_from(home):
    (home / "topiarist.toml").write_text('topics = 4\nwords = 5\nseed = 1\n[grow]\nexclude = ["*.log"]\nseed = 2\n')
    env = {"TOPIARIST_WORDS": "6", "TOPIARIST_PHRASES": "true"}
    found = shown("--topics", "3", env=env)
    assert found["topics"] == {"value": 3, "from": "typed"}
    assert found["words"] == {"value": 6, "from": "environment, TOPIARIST_WORDS"}
    assert found["phrases"]["value"] is True
    assert found["seed"] == {"value": 2, "from": "topiarist.toml"}
    assert found["exclude"]["value"] == ["*.log"]
    assert found["min-documents"] == {"value": None, "from": "default"}
    plain = CliRunner().invoke(app, ["grow", "notes", "--show-config"], env=env).stdout
    assert "# environment, TOPIARIST_WORDS" in plain
    assert not (home / "notes.topiary").exists()


def test_the_file_in_the_source_comes_before_the_one_beside_it(home):
    (home / "topiarist.toml").write_text("topics = 4\n")
    (home / "notes" / "topiarist.toml").write_text("topics = 5\n")
    (home / "other.toml").write_text("topics = 6\n")
    assert shown()["topics"]["value"] == 5
    assert shown("--config", "other.toml")["topics"]["value"] == 6


def test_settings_reach_the_grow(home):
    (home / "topiarist.toml").write_text("topics = 2\n")
    done = CliRunner().invoke(app, ["grow", "notes", "-o", "here.topiary"])
    assert done.exit_code == 0, done.output
    assert "here.topiary · 60 documents · 2 topics" in done.stdout
    assert "Settings are read from topiarist.toml: topics" in done.stderr


ORDERS = "output figure labels hierarchy config quiet json force vectors embed cluster"


@pytest.mark.parametrize("name", ORDERS.split())
def test_documents_do_not_come_with_orders(home, name):
    (home / "precious.svg").write_text("precious")
    (home / "notes" / "topiarist.toml").write_text(f'{name} = "precious.svg"\n')
    done = CliRunner().invoke(app, ["grow", "notes"])
    assert done.exit_code == 2
    assert f"sets {name}, which is only an option" in done.stderr
    assert (home / "precious.svg").read_text() == "precious"


WIDENING = (
    "follow-links = true", "take-removed = true", "include = ['*.key']", "ocr = true", "encoder = true",
    "max-failures = 100", "stop-words = '/etc/passwd'", "stop-words = 'words.txt'", "stop-words = 'en-/words.txt'",
    "stop-words = 'de'",
)  # fmt: skip


@pytest.mark.parametrize("line", WIDENING)
@pytest.mark.parametrize("where", ["notes", "."])
def test_found_file_sets_only_harmless_options(home, where, line):
    (home / "de").write_text("a file that is called like a language")
    (home / where / "topiarist.toml").write_text(f"{line}\n")
    done = CliRunner().invoke(app, ["grow", "notes", "-q"])
    assert done.exit_code == 2, done.output
    path = "topiarist.toml" if where == "." else "notes/topiarist.toml"
    assert f"{path} was found with the documents and sets {line.split()[0]}" in done.stderr
    assert f"--config {path}" in done.stderr
    assert not (home / "notes.topiary").exists()


def test_links_in_a_found_file_read_nothing_outside(home):
    (home / "outside.txt").write_text("a secret outside of the folder")
    (home / "notes" / "link.txt").symlink_to(home / "outside.txt")
    (home / "notes" / "topiarist.toml").write_text("[topics]\nfollow-links = true\n")
    done = CliRunner().invoke(app, ["topics", "notes", "-q"])
    assert (done.exit_code, done.stdout) == (2, "")


def test_named_file_and_environment_set_restricted_options(home):
    (home / "own.toml").write_text("take-removed = true\ninclude = ['*.txt']\nstop-words = 'words.txt'\n")
    found = shown("--config", "own.toml", env={"TOPIARIST_FOLLOW_LINKS": "true"})
    assert found["take-removed"] == {"value": True, "from": "own.toml"}
    assert found["include"]["value"] == ["*.txt"]
    assert found["stop-words"]["value"] == "words.txt"
    assert found["follow-links"] == {"value": True, "from": "environment, TOPIARIST_FOLLOW_LINKS"}


def test_found_file_names_a_stop_list(home):
    for name in ("en", "german", "auto", "none"):
        (home / "topiarist.toml").write_text(f"stop-words = '{name}'\n")
        assert shown()["stop-words"] == {"value": name, "from": "topiarist.toml"}


MOVED = {
    "xml-path": "channel/item", "ocr": None, "follow-links": None, "max-failures": "50", "language": "en",
    "stop-words": "en", "stem": "en", "phrases": None, "numbers": None, "min-documents": "2", "threads": "1",
    "wait": "1", "growth": "annealed", "topic-mix": "ml", "no-headings": None, "online": None, "device": "cpu",
    "take-removed": None, "columns": "price", "keep-repeated": None, "passages": None, "languages": "one",
    "words": "4", "depth": "1",
}  # fmt: skip


@pytest.mark.parametrize("name", MOVED)
def test_typed_setting_names_the_file_and_the_variable(home, name):
    value = MOVED[name]
    done = CliRunner().invoke(app, ["grow", "notes", f"--{name}", *([] if value is None else [value])])
    assert done.exit_code == 2, done.output
    assert f"--{name} is a setting, not an option of the command line" in done.stderr
    assert f"Set {name} = " in done.stderr
    variable = f"TOPIARIST_{name.replace('-', '_').upper()}"
    file = "a file that --config names" if name.replace("-", "_") in RESTRICTED_SETTINGS else "topiarist.toml"
    assert f"in {file}, or {variable}={'true' if value is None else value}" in done.stderr
    assert not (home / "notes.topiary").exists()


def test_the_named_line_and_variable_set_it(home):
    (home / "topiarist.toml").write_text('stem = "en"\nphrases = true\n')
    found = shown(env={"TOPIARIST_MIN_DOCUMENTS": "2", "TOPIARIST_NUMBERS": "true"})
    assert [found[name]["value"] for name in ("stem", "phrases", "min-documents", "numbers")] == ["en", True, 2, True]


def test_command_line_of_grow_stays_short():
    commands = typer.main.get_command(app).commands
    for name, most in (("grow", 30), ("topics", 13)):
        typed = [one for one in commands[name].params if one.param_type_name == "option" and not one.hidden]
        assert len(typed) <= most, sorted(one.name for one in typed)
    settings = {one.name.replace("_", "-") for one in commands["grow"].params if is_setting_only(one)}
    assert settings == MOVED.keys()


@pytest.mark.parametrize("command", ["file c.topiary new", "similar c.topiary new"])
def test_commands_without_a_file_take_settings_from_the_environment(home, command):
    done = CliRunner().invoke(app, [*command.split(), "--xml-path", "a/b"])
    assert done.exit_code == 2
    assert "--xml-path is a setting, not an option of the command line" in done.stderr
    assert "Try: Set TOPIARIST_XML_PATH=a/b" in done.stderr
    done = CliRunner().invoke(app, command.split(), env={"TOPIARIST_WAIT": "-1"})
    assert "TOPIARIST_WAIT: " in done.stderr


def test_visible_options_of_other_commands_are_no_settings(home):
    CliRunner().invoke(app, ["grow", "notes", "--topics", "2", "-q"])
    env = {"TOPIARIST_TOPICS": "many", "TOPIARIST_DEPTH": "many"}
    assert CliRunner().invoke(app, ["tree", "notes.topiary"], env=env).exit_code == 0


def test_collection_keeps_the_settings_in_its_command(home):
    (home / "topiarist.toml").write_text("topics = 3\nwords = 4\n")
    env = {"TOPIARIST_STOP_WORDS": "en"}
    typed = ["grow", "notes", "-k", "2", "-q"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["topiarist", *typed])
        assert CliRunner().invoke(app, typed, env=env).exit_code == 0
    with Collection.open("notes.topiary") as collection:
        assert collection.settings["command"] == [
            "env", "TOPIARIST_STOP_WORDS=en", "TOPIARIST_WORDS=4", "topiarist", *typed,
        ]  # fmt: skip


def test_annealed_growth_in_a_file_gives_the_tree_of_the_estimator(home):
    (home / "topiarist.toml").write_text('growth = "annealed"\ntopics = 2\n')
    done = CliRunner().invoke(app, ["grow", "notes", "-q"])
    assert done.exit_code == 0, done.output
    with Collection.open("notes.topiary") as collection:
        recipe = collection.settings["recipe"]
        assert (recipe["growth"], recipe["topic_mix"]) == ("annealed", None)
        counts = collection.counts
        own = CAM(2, growth="annealed", random_state=0).fit(counts)
        guided = CAM(2, random_state=0).fit(counts)
        assert collection.tree_model.tree.parents == own.tree_.parents
        assert np.array_equal(collection.tree_model.word_given_node, own.word_given_node_)
        assert not np.array_equal(own.word_given_node_, guided.word_given_node_)


def test_topic_mix_in_a_file_reaches_the_estimator(home):
    (home / "topiarist.toml").write_text('model = "hplsa"\ntopic-mix = "uniform"\ntopics = 2\n')
    done = CliRunner().invoke(app, ["grow", "notes", "-q"])
    assert done.exit_code == 0, done.output
    with Collection.open("notes.topiary") as collection:
        assert collection.settings["recipe"]["topic_mix"] == "uniform"
        on_path = collection.tree_model.node_given_class
        assert {round(float(value), 6) for value in on_path[on_path > 0]} == {
            round(1 / number, 6) for number in (on_path > 0).sum(axis=1)
        }


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('growth = "wild"', "expected 'guided' or 'annealed' as growth of the model cam, got 'wild'"),
        ('growth = "annealed"\nmodel = "ggm"', "expected 'guided' as growth of the model ggm, got 'annealed'"),
        ('topic-mix = "ml"', "the model cam has no topic_mix, got 'ml'\n  Try: Use the model hplsa."),
        ('topic-mix = "some"\nmodel = "hplsa"', "expected 'ml' or 'uniform' or 'heldout' as topic_mix"),
        ('growth = "annealed"\nmemory = "1GB"', "annealed or labelled growth"),
    ],
)
def test_growth_that_a_model_lacks_is_an_error(home, body, message):
    (home / "topiarist.toml").write_text(f"{body}\n")
    done = CliRunner().invoke(app, ["grow", "notes"])
    assert done.exit_code == 2, done.output
    assert message in done.stderr
    assert not (home / "notes.topiary").exists()


def options_by_command():
    for name in COMMANDS:
        options = import_module(f"topiarist.cli.commands.{name}").Options
        if issubclass(options, SourceOptions):
            yield name, {field.name for field in fields(options)}


def test_every_option_is_on_one_list_of_settings():
    lists = (HARMLESS_SETTINGS, RESTRICTED_SETTINGS, ONLY_TYPED)
    listed = [name for names in lists for name in names]
    assert len(listed) == len(set(listed))
    commands = dict(options_by_command())
    assert {"grow", "topics"} <= commands.keys()
    assert all(not options - set(listed) for options in commands.values())
    assert set(listed) == set().union(*commands.values())


def test_a_figure_is_not_drawn_over_a_file(home):
    (home / "precious.svg").write_text("precious")
    done = CliRunner().invoke(app, ["grow", "notes", "--topics", "2", "--figure", "precious.svg"])
    assert done.exit_code == 2
    assert "--force" in done.stderr
    assert (home / "precious.svg").read_text() == "precious"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("topcis = 3\n", "topiarist.toml has a setting that does not exist: topcis\n  Try: Use topics."),
        ("[gorw]\ntopics = 3\n", "topiarist.toml has a table that does not exist: gorw\n  Try: Use grow."),
        ("force = true\n", "topiarist.toml sets force, which is only an option"),
        ("topics = 0\n", "topics in topiarist.toml: expected a whole number of at least 1, or auto; got 0"),
        ("words = 'many'\n", "words in topiarist.toml: "),
        ("topics = [1]\n", "topics in topiarist.toml must be one value"),
        ("topics = = 3\n", "topiarist.toml is not a settings file"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_the_nearest_name(home, body, message):
    (home / "topiarist.toml").write_text(body)
    done = CliRunner().invoke(app, ["grow", "notes"])
    assert done.exit_code == 2, done.output
    assert message in done.stderr


def test_missing_database_reported(home):
    done = CliRunner().invoke(app, ["grow", "notes", "--config", "no.toml"])
    assert done.exit_code == 2
    assert "there is no settings file at no.toml" in done.stderr


def test_verbose_logs_to_standard_error(home):
    done = CliRunner().invoke(app, ["grow", "notes", "--topics", "2", "-v", "--json"])
    assert done.exit_code == 0, done.output
    assert "Growing the tree" in done.stderr
    assert "INFO" in done.stderr
    json.loads(done.stdout)


def test_shells_can_be_taught_to_complete():
    assert "--install-completion" in CliRunner().invoke(app, ["--help"]).stdout


def test_a_setting_may_be_called_like_a_command(home):
    (home / "c.toml").write_text("topics = 12\n")
    done = CliRunner().invoke(app, ["topics", "notes", "--config", "c.toml", "--show-config"])
    assert done.exit_code == 0, done.output
    assert "topics        = 12" in done.stdout
