"""Check captions: that they tell what was described, and that they name no one.

    python -m pipeline.check FILE [--out OUT] [--no-similarity]

reads   any CSV file with the column `caption` (and `description`)
writes  the same with seven more columns: names, name_score, names_ok, similarity, similarity_ok,
        detail, detail_ok

The two checks of TVR-Ranking (Liang et al., 2024, section 3.1): the similarity of description
and caption is at least `rewrite.min_similarity`, and no person's name is found in the caption
with a score above `rewrite.max_name_score`. And one more: of the words of the description that
tell what happens, the caption keeps at least the share `rewrite.min_detail`.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentrank.errors import MomentRankError
from momentrank.texts import is_utf8
from pipeline.captions import details
from pipeline.core import cli, csv_files
from pipeline.core.params import Params, load
from pipeline.language import detection, support
from pipeline.names.base import NameTagger, Span
from pipeline.names.evidence.cast import Cast
from pipeline.names.finder import NameFinder
from pipeline.retrieval import similarity

if TYPE_CHECKING:
    from pipeline.retrieval.encoder import Encoder

COLUMNS = [
    "names", "name_score", "names_ok", "similarity", "similarity_ok", "detail", "detail_ok",
]  # fmt: skip
CHECKS = ("names", "similarity", "detail")
BLOCK = 8192


Find = Callable[[Sequence[str]], list[list[Span]]]


class CheckError(MomentRankError):
    """A file whose captions can't be checked."""


class Limits(NamedTuple):
    """What a caption must reach: two scores at least, and that of a name at most.

    With `masked` people are left out of what is compared. `min_detail` None: not measured.
    """

    min_similarity: float
    max_name_score: float
    min_detail: float | None = None
    masked: bool = False


def check(  # noqa: PLR0913  (two kinds of texts, and what reads each)
    captions: Sequence[str],
    descriptions: Sequence[str] | None,
    finder: NameTagger,
    encoder: "Encoder | None",
    limits: Limits,
    *,
    find_described: Find | None = None,
) -> pd.DataFrame:
    """Return the checks of each caption, a row each; a distinct text is read once.

    `find_described` finds the names of descriptions, where a rewriter knows more than `finder`.
    Columns: `names` str (all that were found, `; ` between them), `name_score` f64 (of the
    surest, 0 if there is none), `names_ok` bool; `similarity` f64 (6 decimals) and `detail` f64
    (the share of the description's details that the caption keeps), each null where it is not
    measured, with `similarity_ok` and `detail_ok` boolean (null likewise).
    """
    found = finder.find(captions)
    scores = [max((span.score for span in spans), default=0.0) for spans in found]
    checks = pd.DataFrame(
        {
            "names": ["; ".join(span.text for span in spans) for spans in found],
            "name_score": np.asarray(scores, dtype=np.float64),
        }
    )
    checks["names_ok"] = checks["name_score"] <= limits.max_name_score
    described = (find_described or finder.find)(descriptions or [])
    pairs = _Pairs(captions, found, descriptions or [], described)
    alike, detail = (pd.Series(pd.NA, checks.index, dtype="Float64") for _ in range(2))
    if pairs.descriptions and encoder is not None:
        alike[:] = similarities(*pairs.compared(masked=limits.masked), encoder)
    if pairs.descriptions and limits.min_detail is not None:
        detail[:] = details.shares_kept(pairs.descriptions, captions, pairs.described)
    checks = checks.assign(similarity=alike, similarity_ok=alike >= limits.min_similarity)
    return checks.assign(detail=detail, detail_ok=detail >= (limits.min_detail or 0.0))


class _Pairs(NamedTuple):
    """Captions and descriptions, each with the names found in it."""

    captions: Sequence[str]
    named: Sequence[Sequence[Span]]
    descriptions: Sequence[str]
    described: Sequence[Sequence[Span]]

    def compared(self, *, masked: bool) -> tuple[Sequence[str], Sequence[str]]:
        """Return what the encoder compares: both as they are, or both without their people."""
        if not masked:
            return self.captions, self.descriptions
        return (
            list(map(details.mask_people, self.captions, self.named)),
            [
                details.mask_people(*pair)
                for pair in zip(self.descriptions, self.described, strict=True)
            ],
        )


def similarities(
    captions: Sequence[str], descriptions: Sequence[str], encoder: "Encoder"
) -> npt.NDArray[np.float64]:
    """Return the similarity of each caption and its description, 6 decimals, shape (n,)."""
    numbers, texts = pd.factorize(np.array([*captions, *descriptions], dtype=object))
    vectors = encoder.encode(list(texts))
    pairs = numbers.reshape(2, -1)
    blocks = np.array_split(pairs, max(1, -(-pairs.shape[1] // BLOCK)), axis=1)
    micro = [
        similarity.micro_similarities(vectors[one], vectors[other][:, None])[:, 0]
        for one, other in blocks
    ]
    alike: npt.NDArray[np.float64] = np.concatenate(micro) / similarity.MICRO
    return alike


def table(path: Path) -> pd.DataFrame:
    """Read what is to be checked: every row with a caption, and a description if there are any.

    Raises:
        FileError: the file is no CSV with the column `caption`.
        CheckError: a row lacks one of the two, a cell is no UTF-8, or a column of the checks
            is there already.
    """
    frame = csv_files.read_csv(path, ["caption"])
    taken = [name for name in COLUMNS if name in frame]
    if taken:
        raise CheckError(f"{path}: the column {taken[0]!r} is there already; rename or remove it")
    for name in frame.columns:
        broken = frame.index[~frame[name].fillna("").map(is_utf8).astype(bool)]
        if len(broken):
            raise CheckError(f"{path}, line {broken[0]}: not UTF-8; save the file as UTF-8")
    for name in frame.columns.intersection(["caption", "description"]):
        empty = frame.index[frame[name].fillna("").str.strip() == ""]
        if len(empty):
            raise CheckError(f"{path}, line {empty[0]}: no {name} ({len(empty)} such rows)")
    return frame


def finder_of(
    params: Params, corpus: Sequence[str], cast: Cast, *, of_captions: bool = False
) -> NameFinder:
    """Return what finds names in a corpus, or, `of_captions`, what slipped into captions alone."""
    from pipeline.names import flair_tagger  # noqa: PLC0415  (torch takes seconds; --help should not)

    path = flair_tagger.locate(params.names.model, params.names.revision)
    return NameFinder(flair_tagger.load(path), corpus, cast, of_captions=of_captions)


def encoder_of(params: Params) -> "Encoder":
    """Return what compares description and caption, by `embed.model`."""
    from pipeline.retrieval import encoder  # noqa: PLC0415  (torch takes seconds; --help should not)

    return encoder.load(encoder.locate(params.embed.model, params.embed.revision), params.embed)


def limits_of(params: Params) -> Limits:
    """Return the limits that `rewrite` sets.

    Raises:
        ParamsError: see `Params.min_similarity`.
    """
    rewrite, masked = params.rewrite, params.rewrite.similarity == "masked"
    return Limits(params.min_similarity, rewrite.max_name_score, rewrite.min_detail, masked)


def checked(frame: pd.DataFrame, params: Params, *, with_similarity: bool) -> pd.DataFrame:
    """Return the frame with the columns of the checks, by the models of params.yaml."""
    limits, captions = limits_of(params), list(frame["caption"])
    descriptions = list(frame["description"]) if "description" in frame else None
    spoken = detection.of_corpus(captions, params.ingest.language)
    support.refuse(spoken, ["names.model: builtin"] if params.names.model == "builtin" else [])
    corpus = captions if descriptions is None else descriptions
    finder = finder_of(params, corpus, Cast.of_campaign(), of_captions=descriptions is None)
    encoder = encoder_of(params) if with_similarity and descriptions is not None else None
    checks = check(captions, descriptions, finder, encoder, limits)
    return frame.assign(**{name: checks[name].array for name in COLUMNS})


def main(options: argparse.Namespace) -> None:
    """Check a file, and say how many captions fail."""
    if options.out:
        _check_target(options.out)
    frame = checked(table(options.file), load(), with_similarity=not options.no_similarity)
    if options.out:
        csv_files.write_csv(options.out, frame)
    else:
        sys.stdout.write(csv_files.csv_text(frame))
    named, unlike, vague = ((~frame[f"{name}_ok"]).sum() for name in CHECKS)
    unknown = " (not compared)" if frame["similarity"].isna().all() else ""
    cli.log(
        f"check: of {len(frame)} captions {named} name someone,"
        f" {unlike} are unlike{unknown}, {vague} lack details"
    )


def _check_target(path: Path) -> None:
    """Refuse what can't be written to before anything is checked."""
    if path.is_dir():
        raise CheckError(f"--out: {path} is a folder; name a file")
    there = next(folder for folder in path.absolute().parents if folder.exists())
    if not (there.is_dir() and os.access(there, os.W_OK)):
        raise CheckError(f"--out: nothing can be written into {there}")


def _arguments() -> argparse.Namespace:
    parser = cli.parser("Reads names, embed and rewrite of params.yaml in the current folder.")
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--out", type=Path, metavar="OUT", help="write there, not to stdout")
    parser.add_argument("--no-similarity", action="store_true", help="look for names only")
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
