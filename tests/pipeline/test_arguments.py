"""Numbers of a command line: what is read, and what is a usage error."""

import argparse

import pytest

from pipeline.core import cli


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (cli.natural, "0", 0),
        (cli.count, "1", 1),
        (cli.positive, "0.5", 0.5),
        (cli.share, "0", 0.0),
        (cli.positive_share, "1", 1.0),
    ],
)
def test_a_number_is_read(kind, text, value):
    assert kind(text) == value


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (cli.natural, "-1"),
        (cli.natural, "1.5"),
        (cli.count, "0"),
        (cli.count, "-1"),
        (cli.count, "many"),
        (cli.positive, "0"),
        (cli.positive, "inf"),
        (cli.share, "1.1"),
        (cli.share, "nan"),
        (cli.positive_share, "0"),
    ],
)
def test_another_is_a_usage_error(kind, text, capsys):
    parser = argparse.ArgumentParser()
    parser.add_argument("number", type=kind)
    with pytest.raises(SystemExit) as caught:
        parser.parse_args(["--", text])
    assert caught.value.code == 2
    assert text in capsys.readouterr().err
