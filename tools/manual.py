"""The documentation's site: what Sphinx adds to the pages of docs/ (`make docs`).

docs/index.md is the table of contents. Three pages are filled from the code, so they are never
older than it: every command's help, every setting with its comment, the public functions. Nothing
is written into the checkout.
"""

import argparse
import inspect
import os
import re
import runpy
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import momentrank
from annotation.label_studio import guideline
from momentrank.cli import demo
from momentrank.cli.main import main as score

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[1]
CONTENTS, EXAMPLES = "docs/index", "docs/examples"
PARAMS = "params.yaml"
LISTED = re.compile(r"^\* \[(.+?)\]\((.+?)\.(?:md|ipynb)\)", re.MULTILINE)
LINK = re.compile(r"\]\(([\w./-]+\.md)\)")
PACKAGES = {
    "momentrank": "The scorer",
    "pipeline": "From a corpus to a release",
    "annotation": "People",
    "baselines": "Baselines",
}
"""The packages with commands, and their headings."""
KEY = re.compile(r"( *)(\w+):(?: +([^#]*?))?(?: *# (.*))?$")
"""A line of params.yaml: indentation, key, value, comment."""
WIDTH = "88"
"""Columns of a command's help."""
DEMO = Path(".demo/datasets")
PAGES = {
    "report": ("report/index.html", "The report of the demo"),
    "lead": ("work/lead/index.html", "The lead's page of the demo"),
}
"""Pages of the demo, by the folder of the site that they are copied to."""
GUIDELINES = Path("annotation/guideline")
FILE = re.compile(r'(?:href|src)="((?:\.\./)?\w+/[\w./-]+)"')
"""A file that such a page links to."""


def list_parts(contents: str) -> dict[str, dict[str, str]]:
    """Return the pages of each part of the table of contents, with their titles."""
    _, *parts = re.split(r"^## (.+)$", contents, flags=re.MULTILINE)
    return {
        part: {os.path.normpath(f"docs/{page}"): title for title, page in LISTED.findall(text)}
        for part, text in zip(parts[::2], parts[1::2], strict=True)
    }


def show_menu(contents: str) -> str:
    """Return the menu: the table of contents, and its parts."""
    return "".join(
        f"\n```{{toctree}}\n:hidden:\n:caption: {part}\n\n{_entries(pages)}```\n"
        for part, pages in ({"Start": {CONTENTS: "All pages"}} | list_parts(contents)).items()
    )


def _entries(pages: dict[str, str]) -> str:
    return "".join(f"{title} <{page}>\n" for page, title in pages.items())


class _ParserFoundError(Exception):
    """A command is about to read its arguments."""


def find_parser(command: Callable[[], object]) -> argparse.ArgumentParser:
    """Return the parser of a command, which runs until it would read its arguments."""
    found: list[argparse.ArgumentParser] = []

    def stop(parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        found.append(parser)
        raise _ParserFoundError

    with (
        patch.object(argparse.ArgumentParser, "parse_known_args", stop),
        suppress(_ParserFoundError),
    ):
        command()
    return found[0]


def list_parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield a command's parser, and those of its verbs."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb in action.choices.values():
                yield from list_parsers(verb)


def commands() -> str:
    """Return the help of every command and verb, and of make's targets."""
    parts = [f"\n## {title}\n{_helps(package)}" for package, title in PACKAGES.items()]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z-]+):.*?## (.+)$", makefile, re.MULTILINE)
    rows = "".join(f"* `make {target}`: {text}\n" for target, text in targets)
    return "".join([*parts, f"\n## Make\n\n{rows}"])


def _helps(package: str) -> str:
    with patch.dict(os.environ, COLUMNS=WIDTH):
        return "".join(
            f"\n{'####' if depth else '###'} {verb.prog}\n\n```text\n{verb.format_help()}```\n"
            for command in _list_commands(package)
            for depth, verb in enumerate(list_parsers(find_parser(command)))
        )


def _list_commands(package: str) -> Iterator[Callable[[], object]]:
    if package == momentrank.__name__:
        yield partial(score, [])
        return
    for path in sorted((ROOT / package).glob("[!_]*.py")):
        module = f"{package}.{path.stem}"
        yield partial(runpy.run_module, module, run_name="__main__", alter_sys=True)


def settings() -> str:
    """Return the keys of params.yaml, with their defaults and comments, by section."""
    lines, path = [], list[str]()
    for line in (ROOT / PARAMS).read_text(encoding="utf-8").splitlines():
        if at := KEY.match(line):
            indent, key, value, comment = at.groups()
            path[len(indent) // 2 :] = [key]
            says = (comment or "").replace("*", r"\*")
            if not indent:
                lines.append(f"\n## {key}\n\n{says}\n")
            elif value or comment:
                setting = f"{'.'.join(path)}: {value or ''}".removesuffix(": ")
                lines.append(f"* `{setting}`" + (f": {says}" if says else ""))
    return "\n".join(lines) + "\n"


def functions() -> str:
    """Return the public names of the scorer: functions, classes, measures."""
    public = {name: getattr(momentrank, name) for name in dir(momentrank) if name[0] != "_"}
    classes = {name for name, value in public.items() if inspect.isclass(value)}
    routines = {name for name, value in public.items() if inspect.isfunction(value)}
    measures = {name for name, value in public.items() if isinstance(value, momentrank.Measure)}
    return "".join(
        [
            *("\n## Functions\n", *map(partial(_directive, "function"), sorted(routines))),
            *("\n## Measures\n", *map(_measure, sorted(measures))),
            *("\n## Classes and errors\n", *map(partial(_directive, "class"), sorted(classes))),
        ]
    )


def _directive(kind: str, name: str) -> str:
    role = "exception" if kind == "class" and name.endswith("Error") else kind
    return f"\n### {name}\n\n```{{eval-rst}}\n.. auto{role}:: momentrank.{name}\n```\n"


def _measure(name: str) -> str:
    measure = getattr(momentrank, name)
    says = (inspect.getdoc(measure) or "").partition("Parameters:")[0]
    says, prompt, example = says.partition(">>> ")
    code, _, source = example.partition("\n\n")
    says += f"```\n{prompt}{code}\n```\n{source}"
    params = "".join(
        f"* `{key}`: {param.desc}. {param.allowed}"
        f" ({'required' if param.required else f'default: {param.default!r}'})\n"
        for key, param in measure.PARAMS.items()
    )
    return f"\n### {name}\n\n{says}\n{params}"


def examples() -> str:
    """Return the list of the pages that `add_examples` adds to the site."""
    listed = {"explain": "One query explained"} | {
        folder: title for folder, (page, title) in PAGES.items() if (ROOT / DEMO / page).exists()
    }
    return "\n" + "".join(
        f'* <a href="../{folder}/index.html">{title}</a>\n' for folder, title in listed.items()
    )


def show_guideline(text: str, path: Path) -> str:
    """Return a guideline as annotators read it, without the head that Label Studio's page uses."""
    body = guideline.read(text, path).html
    return f"---\norphan: true\n---\n\n# The guideline: {path.name}\n\n{body}"


def explain_demo(page: Path) -> None:
    """Make the explanation of a query of `momentrank demo`."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        demo.write(Path())
        score(["explain", "demo.qrels", "demo.run", "q1", "--html", str(page)])


def add_examples(site: Path) -> None:
    """Add the pages that are no pages of docs/: an explanation, and those of the demo."""
    (site / "explain").mkdir(exist_ok=True)
    explain_demo(site / "explain/index.html")
    for folder, (page, _) in PAGES.items():
        if (source := ROOT / DEMO / page).exists():
            _copy_page(source, site / folder)


def _copy_page(page: Path, folder: Path) -> None:
    """Copy a page, with those of the clips and tables that it links to that are there."""
    folder.mkdir(exist_ok=True)
    shutil.copy(page, folder)
    for linked in FILE.findall(page.read_text(encoding="utf-8")):
        if (source := page.parent / linked).is_file():
            target = folder / linked
            target.parent.mkdir(exist_ok=True)
            shutil.copy(source, target)


ADDED = {
    EXAMPLES: examples,
    "docs/commands": commands,
    "docs/settings": settings,
    "docs/functions": functions,
}
"""What is added to the end of a page."""


def _add(app: "Sphinx", page: str, source: list[str]) -> None:
    source[0] = LINK.sub(partial(_link_file, app, page), source[0])
    if page == app.config.root_doc:
        source[0] += show_menu((app.srcdir / f"{CONTENTS}.md").read_text(encoding="utf-8"))
    if page in ADDED:
        source[0] += ADDED[page]()
    if Path(page).parent == GUIDELINES:
        source[0] = show_guideline(source[0], Path(f"{page}.md"))


def _link_file(app: "Sphinx", page: str, link: re.Match[str]) -> str:
    """Return a link, marked as one to a file where its text is no page of the site."""
    target = Path(os.path.normpath(app.srcdir / Path(page).parent / link[1]))
    is_page = app.env.path2doc(target) in app.env.found_docs
    return link[0] if is_page or not target.exists() else f"](path:{link[1]})"


def _finish(app: "Sphinx", failure: Exception | None) -> None:
    if not failure:
        add_examples(app.outdir)
        shutil.copy(app.outdir / f"{app.config.root_doc}.html", app.outdir / "index.html")


def setup(app: "Sphinx") -> dict[str, bool]:
    """Connect this module to a build."""
    app.connect("source-read", _add)
    app.connect("build-finished", _finish)
    return {"parallel_read_safe": True}
