"""Numbers of a command line: what is read, and what is a usage error."""

import argparse

import pytest

from pipeline.core import arguments


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (arguments.natural, "0", 0),
        (arguments.count, "1", 1),
        (arguments.positive, "0.5", 0.5),
        (arguments.share, "0", 0.0),
        (arguments.positive_share, "1", 1.0),
    ],
)
def test_a_number_is_read(kind, text, value):
    assert kind(text) == value


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (arguments.natural, "-1"),
        (arguments.natural, "1.5"),
        (arguments.count, "0"),
        (arguments.count, "-1"),
        (arguments.count, "many"),
        (arguments.positive, "0"),
        (arguments.positive, "inf"),
        (arguments.share, "1.1"),
        (arguments.share, "nan"),
        (arguments.positive_share, "0"),
    ],
)
def test_another_is_a_usage_error(kind, text, capsys):
    parser = argparse.ArgumentParser()
    parser.add_argument("number", type=kind)
    with pytest.raises(SystemExit) as caught:
        parser.parse_args(["--", text])
    assert caught.value.code == 2
    assert text in capsys.readouterr().err
