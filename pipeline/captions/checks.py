"""The checks of a caption: it says what was described, and names no one.

Two are TVR-Ranking's (Liang et al., 2024, section 3.1): the similarity of description and caption
is at least `rewrite.min_similarity`, and no person's name is found in the caption with a score
above `rewrite.max_name_score`. Two are ours: of the description's words that say what happens, the
caption keeps at least the share `rewrite.min_detail`; and its form is a caption's
(`pipeline.captions.form`).
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from pipeline.captions import damage, details, form
from pipeline.captions.repair import Check
from pipeline.core.captions import min_similarity
from pipeline.core.engine.text_rows import IN_PROCESS, RowMap
from pipeline.core.params import Params
from pipeline.names.base import NameTagger, Span
from pipeline.names.evidence.cast import Cast
from pipeline.names.finder import NameFinder
from pipeline.retrieval import similarity

if TYPE_CHECKING:
    from pipeline.retrieval.encoder import Encoder

BLOCK = 8192
COLUMNS = [
    "names", "name_score", "names_ok", "similarity", "similarity_ok", "detail", "detail_ok",
    "damage", "damage_ok", "form", "form_ok",
]  # fmt: skip
"""The columns of checks."""


class Limits(NamedTuple):
    """The limits of the checks: two minimum scores, and a maximum score of names.

    With `masked`, similarity ignores the people. `min_detail` None: not measured. `english`: the
    form is checked by English words, too.
    """

    min_similarity: float
    max_name_score: float
    min_detail: float | None = None
    masked: bool = False
    english: bool = True


def check(  # noqa: PLR0913  (two kinds of texts, and what reads each)
    captions: Sequence[str],
    descriptions: Sequence[str] | None,
    finder: NameTagger,
    encoder: "Encoder | None",
    limits: Limits,
    *,
    find_described: Callable[[Sequence[str]], list[list[Span]]] | None = None,
    map_rows: RowMap = IN_PROCESS,
) -> pd.DataFrame:
    """Return the checks of the captions, one row each; each distinct text is read once.

    `find_described` finds the names in descriptions, if a rewriter knows more than `finder`;
    `map_rows` does the work that concerns single pairs.
    Columns: `names` str (all names found, separated by `; `), `name_score` f64 (the highest, 0 if
    there are none), `names_ok` bool; `similarity` f64 (6 decimals) and `detail` f64 (the share of
    the description's details that the caption keeps), each null if not measured, with
    `similarity_ok` and `detail_ok` boolean (null likewise); `damage` str (what was lost or broken
    beside the people, separated by `; `) and `damage_ok` boolean, both null without descriptions;
    `form` str (the faults of its form, separated by `; `) and `form_ok` bool.
    """
    named = finder.find(captions)
    scores = [max((span.score for span in spans), default=0.0) for spans in named]
    checks = pd.DataFrame(
        {
            "names": ["; ".join(span.text for span in spans) for spans in named],
            "name_score": np.asarray(scores, dtype=np.float64),
        }
    )
    checks["names_ok"] = checks["name_score"] <= limits.max_name_score
    descriptions = descriptions or []
    described = (find_described or finder.find)(descriptions)
    alike, detail = (pd.Series(pd.NA, checks.index, dtype="Float64") for _ in range(2))
    asked = details.Asked(limits.masked and encoder is not None, limits.min_detail is not None)
    joined = zip(descriptions, described, captions, named, strict=True) if descriptions else ()
    pairs = [details.Pair(*pair) for pair in joined]
    compared = map_rows(details.compare, asked, pairs)
    texts, others, shares = zip(*compared, strict=True) if compared else ((), (), ())
    if descriptions and encoder is not None:
        first, second = (others, texts) if limits.masked else (captions, descriptions)
        alike[:] = similarities(first, second, encoder)
    if descriptions and limits.min_detail is not None:
        detail[:] = shares
    checks = checks.assign(similarity=alike, similarity_ok=alike >= limits.min_similarity)
    checks = checks.assign(detail=detail, detail_ok=detail >= (limits.min_detail or 0.0))
    marks = pd.Series(pd.NA, checks.index, dtype="str")
    if pairs:
        marks[:] = map_rows(damage.list_damage, None, pairs)
    intact = marks.eq("").astype("boolean").mask(marks.isna())
    checks = checks.assign(damage=marks, damage_ok=intact)
    if descriptions:
        return _add_form(checks, map_rows(form.list_faults, limits.english, pairs))
    return _add_form(checks, [form.list_faults_alone(caption) for caption in captions])


def check_form(captions: Sequence[str], descriptions: Sequence[str]) -> pd.DataFrame:
    """Return the checks of captions that are their descriptions: nothing but their form."""
    pairs = zip(descriptions, captions, strict=True)
    rows = [details.Pair(old, (), new, ()) for old, new in pairs]
    unmade = dict.fromkeys(COLUMNS[1:-2])
    checks = pd.DataFrame({"names": ""} | unmade, index=range(len(captions)), dtype=object)
    return _add_form(checks, form.list_faults(False, rows))


def excuse_style(check: Check) -> Check:
    """Return a check that excuses the style of the first captions that it is given."""
    style: frozenset[str] | None = None

    def check_without_style(captions: Sequence[str], descriptions: Sequence[str]) -> pd.DataFrame:
        nonlocal style
        checks = check(captions, descriptions)
        style = form.find_style(list(checks["form"])) if style is None else style
        return excuse_faults(checks, style)

    return check_without_style


def excuse_faults(checks: pd.DataFrame, style: frozenset[str]) -> pd.DataFrame:
    """Return the checks without faults that are a style: a habit, not an error of each caption."""
    return _add_form(checks, [form.excuse(faults, style) for faults in checks["form"]])


def _add_form(checks: pd.DataFrame, faults: Sequence[str]) -> pd.DataFrame:
    found = pd.Series(faults, checks.index, dtype="str")
    return checks.assign(form=found, form_ok=found == "")


def similarities(
    captions: Sequence[str], descriptions: Sequence[str], encoder: "Encoder"
) -> npt.NDArray[np.float64]:
    """Return the similarity of each caption and its description, to 6 decimals, shape (n,)."""
    numbers, texts = pd.factorize(np.array([*captions, *descriptions], dtype=object))
    vectors = encoder.encode(list(texts))
    pairs = numbers.reshape(2, -1)
    blocks = np.array_split(pairs, max(1, -(-pairs.shape[1] // BLOCK)), axis=1)
    micro = [
        similarity.micro_similarities(vectors[first], vectors[second][:, None])[:, 0]
        for first, second in blocks
    ]
    alike: npt.NDArray[np.float64] = np.concatenate(micro) / similarity.MICRO
    return alike


def load_finder(  # noqa: PLR0913  (what is read, by what, and where)
    params: Params,
    corpus: Sequence[str],
    cast: Cast,
    stage: str | None = None,
    *,
    of_captions: bool = False,
    map_rows: RowMap = IN_PROCESS,
) -> NameFinder:
    """Load the finder of names in a corpus, or, with `of_captions`, in captions alone.

    With a `stage`, texts are tagged in the shards that `engine` sets; `map_rows` does the other
    work on each text.
    """
    from pipeline.names import flair_tagger, sharded_tagger  # noqa: PLC0415  (torch takes seconds; --help should not)

    path = flair_tagger.locate(params.names.model, params.names.revision)
    tagger: NameTagger
    if stage and params.engine.shards > 1:
        tagger = sharded_tagger.ShardedTagger(path, stage, params.engine)
    else:
        tagger = flair_tagger.load(path)
    return NameFinder(tagger, corpus, cast, of_captions=of_captions, map_rows=map_rows)


def load_encoder(params: Params, stage: str | None = None) -> "Encoder":
    """Load the encoder that compares description and caption (`embed.model`).

    With a `stage`, it encodes in the shards that `engine` sets.
    """
    from pipeline.retrieval import encoder, sharded_encoder  # noqa: PLC0415  (torch takes seconds; --help should not)

    folder = encoder.locate(params.embed.model, params.embed.revision)
    if stage and params.engine.shards > 1:
        return sharded_encoder.ShardedEncoder(folder, params.embed, stage, params.engine)
    return encoder.load(folder, params.embed)


def read_limits(params: Params) -> Limits:
    """Return the limits that `rewrite` sets.

    Raises:
        ParamsError: see `pipeline.core.captions.min_similarity`.
    """
    rewrite, masked = params.rewrite, params.rewrite.similarity == "masked"
    return Limits(min_similarity(params), rewrite.max_name_score, rewrite.min_detail, masked)
