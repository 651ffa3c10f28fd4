"""Progress: a bar for a person, a few whole lines for a log."""

import time

from pipeline.core import progress


def test_a_log_gets_whole_lines_now_and_then(capsys, monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.05)
    with progress.progress("rewrite", total=40, unit="texts") as bar:
        for _ in range(40):
            time.sleep(0.01)
            bar.update(1)
    err = capsys.readouterr().err
    lines = err.splitlines()
    assert "\r" not in err
    assert 2 <= len(lines) <= 12
    assert all(line.startswith("rewrite: ") for line in lines)
    assert "40/40" in lines[-1]


def test_short_work_leaves_nothing_in_a_log(capsys):
    assert list(progress.progress("embed", range(5), unit="texts")) == [0, 1, 2, 3, 4]
    assert list(progress.progress("embed", [], total=0, unit="texts")) == []
    assert capsys.readouterr().err == ""
