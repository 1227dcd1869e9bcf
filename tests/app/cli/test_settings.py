"""Settings: typed before the environment before ``topiarist.toml`` before the default."""

import json

import pytest
from typer.testing import CliRunner

from tests.app.cli.test_cli import written
from topiarist.app.cli.commands import app


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
    (home / "topiarist.toml").write_text('topics = 4\nwords = 5\nseed = 1\n[grow]\ninclude = ["*.txt"]\nseed = 2\n')
    env = {"TOPIARIST_WORDS": "6", "TOPIARIST_PHRASES": "true"}
    found = shown("--topics", "3", env=env)
    assert found["topics"] == {"value": 3, "from": "typed"}
    assert found["words"] == {"value": 6, "from": "environment, TOPIARIST_WORDS"}
    assert found["phrases"]["value"] is True
    assert found["seed"] == {"value": 2, "from": "topiarist.toml"}
    assert found["include"]["value"] == ["*.txt"]
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


ORDERS = "output figure curve labels hierarchy config quiet json force vectors embed cluster"


@pytest.mark.parametrize("name", ORDERS.split())
def test_documents_do_not_come_with_orders(home, name):
    (home / "precious.svg").write_text("precious")
    (home / "notes" / "topiarist.toml").write_text(f'{name} = "precious.svg"\n')
    done = CliRunner().invoke(app, ["grow", "notes"])
    assert done.exit_code == 2
    assert f"sets {name}, which can only be typed" in done.stderr
    assert (home / "precious.svg").read_text() == "precious"


def test_a_figure_is_not_drawn_over_a_file(home):
    (home / "precious.svg").write_text("precious")
    done = CliRunner().invoke(app, ["grow", "notes", "--topics", "2", "--figure", "precious.svg"])
    assert done.exit_code == 2
    assert "--force" in done.stderr
    assert (home / "precious.svg").read_text() == "precious"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("topcis = 3\n", "topiarist.toml has a setting that does not exist: topcis\n  Try: topics"),
        ("[gorw]\ntopics = 3\n", "topiarist.toml has a table that does not exist: gorw\n  Try: grow"),
        ("force = true\n", "topiarist.toml sets force, which can only be typed"),
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


def test_a_file_that_is_not_there(home):
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
