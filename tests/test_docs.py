"""What the README and docs/scoring.md tell a new user to type works, and says what they say."""

import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import benchmark_files
import published_files
import pytest
import readme

from annotation.label_studio import settings
from annotation.local_server import database, environment, layout, workers
from annotation.roster import roster
from annotation.roster.annotator import roles_of_voters
from momentrank.cli.main import main as momentrank
from pipeline.core import files

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(text, language=""):
    return [code for name, code in FENCE.findall(text) if name == language]


def shell(script, folder):
    scripts = Path(sys.executable).parent
    env = {"PATH": f"{scripts}:/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    return readme.shell(script, folder, env, stderr=subprocess.PIPE)


def test_the_example_of_silence_is_what_the_command_prints(repository, tmp_path):
    page = (repository / "docs/scoring.md").read_text().split("## Silence")[1].split("\n## ")[0]
    [script] = blocks(page)
    shell(script, tmp_path)
    table = page.split("| with `--negatives negatives.txt` | value | |")[1].split("\n\n")[0]
    rows = [[cell.strip(" `") for cell in row.split("|")[1:3]] for row in table.splitlines()[2:]]
    names = " ".join(f'"{name}"' for name, _ in rows)
    files = "silence.qrels silence.run --negatives negatives.txt --no-judged"
    out = shell(f"momentrank evaluate {files} {names}", tmp_path)
    printed = dict(line.split("\tall\t") for line in out.splitlines())
    assert {name: printed[name] for name, _ in rows} == dict(rows)
    assert len(rows) == 6


@pytest.fixture
def example(repository, tmp_path):
    """Return the page, and a folder in which its example lies."""
    page = (repository / "docs/scoring.md").read_text()
    [script] = blocks(page.split("## Conventions")[1].split("\n## ")[0])
    shell(script, tmp_path)
    return page, tmp_path


def test_the_table_of_conventions_is_what_the_command_prints(example):
    page, folder = example
    table = page.split("| `paper` | `tvr-ranking` | `spr` | `sh-eval` |")[1].split("\n\n")[0]
    rows = [[cell.strip(" `") for cell in row.split("|")[1:-1]] for row in table.splitlines()[2:]]
    assert len(rows) == 7
    for at, convention in enumerate(("paper", "tvr-ranking", "spr", "sh-eval"), start=1):
        expected = {row[0]: row[at] for row in rows if row[at]}
        names = " ".join(f'"{name}"' for name in expected)
        out = shell(
            f"momentrank evaluate example.qrels example.run --time seconds --no-judged"
            f" --convention {convention} {names}",
            folder,
        )
        printed = dict(line.split("\tall\t") for line in out.splitlines())
        assert {name: printed[name] for name in expected} == expected


def test_each_benchmarks_command_prints_what_the_table_says(repository, tmp_path):
    benchmark_files.write(tmp_path)
    page = (repository / "docs/scoring.md").read_text()
    rows = [line.split("|")[2:4] for line in page.split("\n\n")[1].splitlines()[2:]]
    assert len(rows) == 10
    for command, figures in rows:
        [script] = re.findall("`(momentrank .*)`", command)
        printed = dict(line.split("\tall\t") for line in shell(script, tmp_path).splitlines())
        cells = re.findall(r"`([^`-][^`]*)`", figures)
        cells = [cell for cell in cells if not cell.startswith("spr")]
        assert set(cells) <= printed.keys(), script
        first = float(list(printed.values())[5])
        assert first in {1.0, 100.0}, "the only result has an IoU of 0.9"


def test_the_python_example_runs(example):
    page, folder = example
    [code] = blocks(page, "python")
    (folder / "example.py").write_text(code)
    out = shell(f"{sys.executable} example.py", folder)
    assert "nDCG(iou=0.5)@10  0.485864" in out


@pytest.fixture
def guide(repository):
    """Return what a lead is told to type and may see: of the campaign, then of its server."""
    pages = ("docs/campaign.md", "docs/server.md")
    return "\n".join((repository / page).read_text() for page in pages)


def test_the_lists_of_people_in_the_campaign_guide_are_read(guide, tmp_path):
    public, private, *_ = map(textwrap.dedent, re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL))
    (tmp_path / "public.yaml").write_text(public)
    (tmp_path / "private.yaml").write_text(private)
    people = roster.read_people(tmp_path / "public.yaml")
    assert {who.number for who in people} == set(roster.read_accounts(tmp_path / "private.yaml"))
    assert len(roles_of_voters(people)) == 4


def test_the_server_of_the_compose_file_is_the_pinned_one_and_as_quiet(repository):
    services = files.read_yaml(repository / "docs/compose.yaml")["services"]
    server = services["label-studio"]
    variables, [data, clips] = server["environment"], server["volumes"]
    expected = environment.QUIET | environment.KEYS
    assert {name: variables[name] for name in expected} == expected
    assert variables["LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK"] == "true"
    assert clips == f"../{layout.CUT_CLIPS}:{variables[settings.ROOT]}/clips:ro"
    assert data == f"data:{variables['LABEL_STUDIO_BASE_DATA_DIR']}"
    place = database.parse("postgresql://label_studio:x@database/label_studio")
    assert {**variables, "POSTGRE_PASSWORD": "x"}.items() >= place.settings.items()
    database_service = services["database"]["environment"]
    for name, own in (("NAME", "DB"), ("USER", "USER"), ("PASSWORD", "PASSWORD")):
        assert variables[f"POSTGRE_{name}"] == database_service[f"POSTGRES_{own}"]


def test_the_compose_file_runs_the_workers_as_this_machine_would(repository):
    server = files.read_yaml(repository / "docs/compose.yaml")["services"]["label-studio"]
    build = server["build"]["dockerfile_inline"]
    for copied in re.findall(r"^COPY (\S+)", build, re.MULTILINE):
        assert (repository / "docs" / server["build"]["context"] / copied).is_file(), copied
    pinned = (repository / "requirements-label-studio.lock").read_text()
    for name in ("label-studio", "gunicorn", "psycopg-binary"):
        assert re.search(rf"^{name}==", pinned, re.MULTILINE), name
    python, isolated, program, *arguments = server["command"].split()
    assert (python, isolated, Path(program).name) == ("python", "-I", Path(workers.__file__).name)
    source = Path(workers.__file__).relative_to(repository)
    assert f"COPY {source} {Path(program).parent}/" in build
    options = workers.parse([file.replace("${WORKERS:-4}", "4") for file in arguments])
    assert (options.host, options.p, options.workers) == ("0.0.0.0", "8080", "4")  # noqa: S104  (a container's)
    assert options.data_dir == server["environment"]["LABEL_STUDIO_BASE_DATA_DIR"]


@pytest.fixture
def type_(command, capsys):
    """Return a function that does what a page's shell block says in this process.

    It returns what each line printed. A command that needs a project is only asked for its help.
    """

    def type_(block):
        printed = {}
        for line in block.replace("\\\n", " ").splitlines():
            program, *words = shlex.split(line)
            names = [
                sorted(map(str, Path().glob(word))) if "*" in word else [word] for word in words
            ]
            words = [name for some in names for name in some]
            if program == "momentrank":
                code, (out, _) = momentrank(words), capsys.readouterr()
            elif words[1] == "pipeline.check":
                code, out, _ = command(words[1], "--help")
                assert all(word in out for word in words if word.startswith("--"))
            else:
                code, out, _ = command(*words[1:])
            assert code == 0, line
            printed[line] = out
        return printed

    return type_


def test_the_commands_of_the_audit_of_tvr_ranking_run_on_files_like_its_own(
    repository, tmp_path, monkeypatch, type_
):
    published_files.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    page = (repository / "docs/tvr-ranking.md").read_text()
    printed = {line: out for block in blocks(page, "sh") for line, out in type_(block).items()}
    assert len(printed) == 12
    output = " ".join("\n".join(printed.values()).split())
    for expected in (
        "pairs: 18 scores: 48 annotators: 4 ",
        "kept: 12 discarded: 6 ",
        "levels: {same: 12, ",
        "similarity_1: {pairs: 6, below_top: 0, share: 0.0}",
        "extension: queries: 6 extended: 0 ",
    ):
        assert expected in output
    conventions = {
        line.rpartition(" ")[2]: out for line, out in printed.items() if "--conv" in line
    }
    values = {name: out.splitlines()[-18:] for name, out in conventions.items()}
    assert values.keys() == {"paper", "tvr-ranking", "spr"}
    assert len({tuple(rows) for rows in values.values()}) == 3
    assert (tmp_path / "lead/annotators.csv").exists()
