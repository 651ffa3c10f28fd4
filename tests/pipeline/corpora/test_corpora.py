"""Every corpus in its own format, from its file to the table of moments."""

import json
import os
import random
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingesting import ingest_params, moment_rows

from pipeline import corpora
from pipeline.core import files
from pipeline.core.files import FileError
from pipeline.corpora import sources
from pipeline.corpora.rows import stable_id
from pipeline.ingest import ingest

AS_NAMED = {name: name for name in ("video_id", "start", "end", "duration", "description")}
STABLE_ID = r"[0-9a-f]{16}"


def ingest_corpus(corpus, source, columns=(), **changes):
    """Return what `ingest` makes of a corpus on disk."""
    return ingest(corpora.read(corpus, source, dict(columns)), ingest_params(**changes))


def write(path, content):
    """Write bytes, a text, a document as JSON, or a tuple of records as JSON lines."""
    if isinstance(content, tuple):
        content = "".join(f"{json.dumps(record)}\n" for record in content)
    elif not isinstance(content, str | bytes):
        content = json.dumps(content)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def drop_ids(result) -> list[tuple]:
    """Return moments without their ids, for the formats that have none."""
    return [row[1:] for row in moment_rows(result)]


def list_rejections(result) -> list[str]:
    """Return `place:reason` of each rejected row; the place is a line or an item."""
    rows = result.rejected
    places = rows["line"].astype(object).where(rows["line"].notna(), rows["item"])
    return list(places.astype(str) + ":" + rows["reason"])


def ids_by_text(result) -> dict[str, str]:
    return dict(zip(result.moments["description"], result.moments["moment_id"], strict=True))


# TVR

ATTIC, NORA = "attic_s01e03_seg02_clip_19", "Nora ties a blue ribbon round the parcel."
TVR = {
    "vid_name": ATTIC,
    "duration": 61.5,
    "ts": [16.25, 33.5],
    "desc": NORA,
    "type": "v",
    "desc_id": 4711,
}
OMAR = TVR | {"ts": [0, 2.29], "desc": "Omar says that he knew it.", "type": "vt", "desc_id": 4712}


def test_tvr(tmp_path):
    path = write(tmp_path / "tvr_val_release.jsonl", (TVR, OMAR))
    result = ingest_corpus("tvr", path)
    assert moment_rows(result) == [("4711", ATTIC, 16.25, 33.5, NORA, "v")]
    assert result.metrics["other_modality"] == 1
    assert result.videos[["video_id", "duration"]].to_numpy().tolist() == [[ATTIC, 61.5]]
    assert result.videos["path"].isna().all()
    both = ingest_corpus("tvr", path, pool_modalities=["v", "vt"])
    assert [row[0] for row in moment_rows(both)] == ["4711", "4712"]


def test_tvr_lines_that_are_none_are_rejected_with_their_number(tmp_path):
    good = json.dumps(TVR).encode()
    lines = [
        b"\xef\xbb\xbf" + good,
        b"",
        b"not json",
        b"[1, 2]",
        good.replace(b"Nora", b"N\xf6ra"),
        good.replace(b"Nora", b"\\ud800"),
        good.replace(b"[16.25, 33.5]", b"[16.25]"),
        good.replace(b"[16.25, 33.5]", b'{"start": 1}'),
        good.replace(b'"desc_id": 4711', b'"desc_id": null'),
        good.replace(b'"vid_name"', b'"video"'),
    ]
    result = ingest_corpus("tvr", write(tmp_path / "tvr.jsonl", b"\r\n".join(lines)))
    assert len(result.moments) == 1
    assert set(result.rejected["file"]) == {"tvr.jsonl"}
    expected = """3:not-json 4:not-an-object 5:not-utf8 6:not-utf8 7:not-a-number 8:not-a-number
        9:no-id 10:no-video"""
    assert list_rejections(result) == expected.split()


# Charades-STA

CHARADES_STA = """\
AO8RW 0.0 6.9##a person is putting a book on a shelf.
AO8RW 12.3 18.9##person begins to play with their phone ## twice.
"""
CHARADES = """\
id,subject,scene,quality,relevance,verified,script,objects,descriptions,actions,length
AO8RW,HR43,Kitchen,6,7,Yes,"A person puts a book, then
 ""plays"".",book;phone,A person.,c092 11.90 21.20;c147 0.00 12.60,33.67
YSKX3,0KZ7,Bedroom,5,7,Yes,Nothing.,bed,Nobody.,,20.08
"""
CHARADES_FILES = {"charades_sta_train.txt": CHARADES_STA, "Charades_v1_train.csv": CHARADES}


@pytest.fixture
def charades(tmp_path):
    for name, content in CHARADES_FILES.items():
        write(tmp_path / name, content)
    return tmp_path


def test_charades_sta(charades):
    result = ingest_corpus("charades-sta", charades)
    assert drop_ids(result) == [
        ("AO8RW", 0.0, 6.9, "a person is putting a book on a shelf.", "v"),
        ("AO8RW", 12.3, 18.9, "person begins to play with their phone ## twice.", "v"),
    ]
    assert list(result.videos["duration"]) == [33.67]
    assert result.moments["moment_id"].str.fullmatch(STABLE_ID).all()


def test_charades_lines_that_are_none_are_rejected(charades):
    lines = [
        b"AO8RW 0.0 6.9 a person is putting a book on a shelf.",
        b"",
        b"AO8RW 0.0##a person.",
        b"AO8RW zero 6.9##a person.",
        b"AO8RW 0.0 6.9##caf\xe9.",
        b"XXXXX 0.0 6.9##a person whose video has no length.",
        b"AO8RW 0.0 6.9##",
        b"AO8RW 24.0 34.68##a person goes on too long.",
        b"AO8RW 24.0 34.66##a person stays to the end.",
    ]
    write(charades / "charades_sta_train.txt", b"\n".join(lines))
    result = ingest_corpus("charades-sta", charades)
    expected = """1:not-a-charades-line 3:not-a-charades-line 4:not-a-number 5:not-utf8
        6:no-duration 7:empty-text 8:ends-after-video"""
    assert list_rejections(result) == expected.split()
    assert drop_ids(result) == [("AO8RW", 24.0, 33.67, "a person stays to the end.", "v")]


# ActivityNet Captions

ACTIVITYNET = {
    "v_QOlSCBRmfWY": {
        "duration": 82.73,
        "timestamps": [[0.83, 19.86], [17.37, 60.81]],
        "sentences": ["A young woman stands in a room.", " The girl dances around the room."],
    },
}


def test_activitynet_captions(tmp_path):
    path = write(tmp_path / "train.json", ACTIVITYNET)
    result = ingest_corpus("activitynet-captions", path)
    assert drop_ids(result) == [
        ("v_QOlSCBRmfWY", 0.83, 19.86, "A young woman stands in a room.", "v"),
        ("v_QOlSCBRmfWY", 17.37, 60.81, "The girl dances around the room.", "v"),
    ]
    assert list(result.videos["duration"]) == [82.73]
    assert result.moments["moment_id"].str.fullmatch(STABLE_ID).all()


def test_activitynet_entries_that_are_none_are_rejected(tmp_path):
    videos = {
        "v_a": {"duration": 10, "timestamps": [[0, 1], [2, 3]], "sentences": ["One."]},
        "v_b": {"duration": 10, "sentences": ["One."]},
        "v_c": [],
        "v_d": {"timestamps": [[0, 1]], "sentences": ["No duration."]},
        "v_e": {"duration": 10, "timestamps": [[0]], "sentences": ["Half."]},
        "v_f": {"duration": 10, "timestamps": [[0, 1]], "sentences": ["One.", {"two": 2}]},
        "v_g": {"duration": 10, "timestamps": [[0, 1]], "sentences": ["Lone \ud800."]},
    }
    result = ingest_corpus("activitynet-captions", write(tmp_path / "train.json", videos))
    assert [row[0] for row in drop_ids(result)] == ["v_a", "v_f"]
    expected = """v_a[1]:empty-text v_b:no-timestamps-or-sentences v_c:no-timestamps-or-sentences
        v_d[0]:no-duration v_e[0]:not-a-number v_f[1]:empty-text v_g[0]:not-utf8"""
    assert list_rejections(result) == expected.split()


# QVHighlights

QVHIGHLIGHTS = {
    "qid": 8737,
    "query": "A family is playing basketball together on a green court outside.",
    "duration": 126,
    "vid": "bP5KfdFJzC4_660.0_810.0",
    "relevant_windows": [[0, 16], [24, 26]],
    "relevant_clip_ids": [0, 1, 2, 3, 4, 5, 6, 7, 12],
    "saliency_scores": [[4, 1, 1], [4, 1, 1], [4, 2, 1], [4, 3, 2], [4, 3, 2], [4, 3, 3]],
}


def test_qvhighlights_has_one_moment_per_window(tmp_path):
    video, query = QVHIGHLIGHTS["vid"], QVHIGHLIGHTS["query"]
    path = write(tmp_path / "highlight_train_release.jsonl", (QVHIGHLIGHTS,))
    assert moment_rows(ingest_corpus("qvhighlights", path)) == [
        ("8737_0", video, 0.0, 16.0, query, "v"),
        ("8737_1", video, 24.0, 26.0, query, "v"),
    ]


def test_qvhighlights_lines_without_windows_are_rejected(tmp_path):
    test = {name: QVHIGHLIGHTS[name] for name in ("qid", "query", "duration", "vid")}
    windows = [[], "0 16", [[0, 16], [20], [30, 200]]]
    lines = [test, *(test | {"relevant_windows": some} for some in windows)]
    path = write(
        tmp_path / "test.jsonl", (*lines, test | {"relevant_windows": [[0, 16]], "qid": [1]})
    )
    path.write_bytes(path.read_bytes() + b"{}x\n" + b'{"query": "caf\xe9"}\n')
    result = ingest_corpus("qvhighlights", path)
    assert [row[0] for row in moment_rows(result)] == ["8737_0"]
    expected = """1:no-windows 2:no-windows 3:no-windows 4:not-a-number 4:ends-after-video 5:no-id
        6:not-json 7:not-utf8"""
    assert list_rejections(result) == expected.split()
    assert list(result.rejected["item"])[3:5] == ["relevant_windows[1]", "relevant_windows[2]"]


# DiDeMo

DIDEMO = {
    "num_segments": 6,
    "description": "the people enter the picture",
    "dl_link": "https://www.flickr.com/video_download.gne?id=13482799053",
    "times": [[1, 4], [0, 0], [1, 4], [5, 5]],
    "video": "12090392@N02_13482799053_87ef417396.mov",
    "annotation_id": 1,
    "reviewers": [3, 5, 16, 18],
}


def test_didemo_counts_in_segments_of_5_s_ends_included(tmp_path):
    result = ingest_corpus("didemo", write(tmp_path / "train_data.json", [DIDEMO]))
    video, text = DIDEMO["video"], DIDEMO["description"]
    assert moment_rows(result) == [("1", video, 5.0, 25.0, text, "v")]
    assert list(result.videos["duration"]) == [30.0]


@pytest.mark.parametrize(
    ("times", "interval"),
    [
        ([[3, 3]], (15.0, 20.0)),
        ([[0, 0], [5, 5], [5, 5]], (25.0, 30.0)),
        ([[2, 3], [0, 0]], (10.0, 20.0)),
        ([[True, True], ["a", "b"], [1], None, [0, 5]], (0.0, 30.0)),
    ],
    ids=["one", "most", "first-of-equals", "garbage"],
)
def test_didemo_takes_what_most_people_marked(tmp_path, times, interval):
    path = write(tmp_path / "train_data.json", [DIDEMO | {"times": times}])
    [row] = moment_rows(ingest_corpus("didemo", path))
    assert row[2:4] == interval


def test_didemo_entries_that_are_none_are_rejected(tmp_path):
    times = [DIDEMO | {"times": value} for value in ([], None, [[4, 1]], [[5, 6]], [[-1, 2]])]
    entries = ["text", *times, DIDEMO | {"num_segments": "6"}]
    result = ingest_corpus("didemo", write(tmp_path / "train.json", entries))
    expected = """[0]:not-an-object [1]:not-a-number [2]:not-a-number [3]:end-not-after-start
        [4]:ends-after-video [5]:negative-time"""
    assert list_rejections(result) == expected.split()


# Splits in a folder

ONE_MORE = {"duration": 82.73, "timestamps": [[0, 10]], "sentences": ["Hi."]}
TVR_SPLITS = {
    "tvr_val_release.jsonl": (OMAR | {"type": "v"},),
    "tvr_train_release.jsonl": (TVR,),
    "tvr_video2dur_idx.json": "{}",
}
CHARADES_SPLITS = CHARADES_FILES | {
    "charades_sta_test.txt": "3MSZA 24.3 30.4##person turn a light on.\n",
    "Charades_v1_test.csv": "id,length\n3MSZA,30.96\n",
}
# Two people's captions of the same videos.
ACTIVITYNET_SPLITS = {"val_1.json": ACTIVITYNET, "val_2.json": {"v_QOlSCBRmfWY": ONE_MORE}}
QVHIGHLIGHTS_SPLITS = {"train.jsonl": (QVHIGHLIGHTS,), "val.jsonl": (QVHIGHLIGHTS | {"qid": "9"},)}
DIDEMO_SPLITS = {"train.json": [DIDEMO], "val.json": [DIDEMO | {"annotation_id": 2}]}


@pytest.mark.parametrize(
    ("corpus", "contents", "starts"),
    [
        ("tvr", TVR_SPLITS, [16.25, 0]),
        ("charades-sta", CHARADES_SPLITS, [24.3, 0, 12.3]),
        ("activitynet-captions", ACTIVITYNET_SPLITS, [0.83, 17.37, 0]),
        ("qvhighlights", QVHIGHLIGHTS_SPLITS, [0, 24, 0, 24]),
        ("didemo", DIDEMO_SPLITS, [5, 5]),
    ],
)
def test_splits_in_a_folder_are_read_by_name(tmp_path, corpus, contents, starts):
    for name, content in contents.items():
        write(tmp_path / name, content)
    result = ingest_corpus(corpus, tmp_path)
    assert list(result.moments["start"]) == starts
    assert len(result.rejected) == 0


# Any table

TABLE = pd.DataFrame(
    {
        "clip": ["a b", "c"],
        "from": [0.5, 2],
        "to": [1.5, 3],
        "length": [10.0, 10.0],
        "text": ["She waves.", "He sits."],
        "kind": ["v", "t"],
        "no": [9007199254740993, 2],
    }
)
COLUMNS = dict(zip(AS_NAMED, ["clip", "from", "to", "length", "text"], strict=True))
WRITERS = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "parquet": lambda frame, path: frame.to_parquet(path),
}
every_suffix = pytest.mark.parametrize("suffix", WRITERS)


def table(folder, frame, suffix, name="moments"):
    path = folder / f"{name}.{suffix}"
    WRITERS[suffix](frame, path)
    return path


@every_suffix
def test_a_table_with_and_without_ids_and_modality(tmp_path, suffix):
    path = table(tmp_path, TABLE, suffix)
    result = ingest_corpus("table", path, COLUMNS | {"moment_id": "no", "modality": "kind"})
    assert moment_rows(result) == [("9007199254740993", "a b", 0.5, 1.5, "She waves.", "v")]
    assert result.metrics["other_modality"] == 1
    result = ingest_corpus("table", path, COLUMNS)
    assert drop_ids(result) == [
        ("a b", 0.5, 1.5, "She waves.", "v"),
        ("c", 2.0, 3.0, "He sits.", "v"),
    ]
    assert result.moments["moment_id"].str.fullmatch(STABLE_ID).all()
    one_column_twice = ingest_corpus("table", path, COLUMNS | {"moment_id": "clip"})
    assert [row[:2] for row in moment_rows(one_column_twice)] == [("a b", "a b"), ("c", "c")]


def test_a_folder_of_tables_of_every_kind(tmp_path):
    for number, suffix in enumerate(WRITERS):
        table(tmp_path, TABLE.assign(no=TABLE["no"] + 10 * number), suffix, f"part{number}")
    (tmp_path / "README.md").write_text("no table")
    result = ingest_corpus("table", tmp_path, COLUMNS | {"moment_id": "no"})
    assert (len(result.moments), len(result.rejected)) == (6, 0)


@every_suffix
def test_cells_without_a_value_are_rejected_with_their_place(tmp_path, suffix):
    frame = pd.concat([TABLE, TABLE, TABLE], ignore_index=True).astype(object)
    frame["text"] = [f"Thing {row}." for row in range(6)]
    # Of the fifth row's duration the other rows of its video tell.
    for row, name in enumerate(["clip", "from", "text", "length", "kind"], start=1):
        frame.loc[row, name] = None
    columns = COLUMNS | {"modality": "kind"}
    result = ingest_corpus("table", table(tmp_path, frame, suffix), columns)
    first = {"csv": 2, "jsonl": 1, "parquet": 0}[suffix]
    reasons = ["no-video", "not-a-number", "empty-text", "unknown-modality"]
    places = [first + row for row in (1, 2, 3, 5)]
    if suffix == "parquet":
        places = [f"row {row}" for row in places]
    assert list_rejections(result) == [
        f"{at}:{why}" for at, why in zip(places, reasons, strict=True)
    ]


def test_a_null_beside_large_integer_ids_does_not_change_them(tmp_path):
    frame = TABLE.assign(no=pd.array([9007199254740993, None], dtype="Int64"))
    path = table(tmp_path, frame, "parquet")
    result = ingest_corpus("table", path, COLUMNS | {"moment_id": "no"})
    assert [row[0] for row in moment_rows(result)] == ["9007199254740993"]
    assert list_rejections(result) == ["row 1:no-id"]


def test_a_parquet_index_and_decimals_are_read_like_columns(tmp_path):
    frame = TABLE.assign(**{"from": [Decimal("0.50"), Decimal("2.00")]}).set_index("clip")
    result = ingest_corpus("table", table(tmp_path, frame, "parquet"), COLUMNS)
    assert [row[:3] for row in drop_ids(result)] == [("a b", 0.5, 1.5), ("c", 2.0, 3.0)]


BROKEN_CSV = b"v,0,1,9,caf\xe9\nv\xff,0,1,9,x\nv,0,1,9,fine\nv,\xff,1,9,x\n"
BROKEN_JSON = b'{"video_id": "v"\n[]\n{"video_id": "caf\xe9"}\n{}\n'


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        (
            "m.csv",
            f"{','.join(AS_NAMED)}\n".encode() + BROKEN_CSV,
            "2:not-utf8 3:not-utf8 5:not-a-number",
        ),
        ("m.jsonl", BROKEN_JSON, "1:not-json 2:not-an-object 3:not-utf8 4:no-video"),
    ],
)
def test_a_line_that_cannot_be_read_is_rejected_alone(tmp_path, name, content, expected):
    result = ingest_corpus("table", write(tmp_path / name, content), AS_NAMED)
    assert list_rejections(result) == expected.split()
    assert len(result.moments) == content.count(b"fine")


@every_suffix
def test_a_table_without_a_named_column_is_an_error(tmp_path, suffix):
    path = table(tmp_path, TABLE, suffix)
    message = rf"moments\.{suffix}: column 'when' is missing \(ingest\.columns: start\)"
    with pytest.raises(FileError, match=message):
        ingest_corpus("table", path, COLUMNS | {"start": "when"})


# Sources that cannot be read

ACTIVITY, LINES = "activitynet-captions", {"charades_sta_train.txt": CHARADES_STA}
NO_LENGTHS = LINES | {"Charades_v1_train.csv": "video,seconds\nAO8RW,33.67\n"}


@pytest.mark.parametrize(
    ("corpus", "contents", "source", "message"),
    [
        ("charades-sta", LINES, "charades_sta_train.txt", r"needs a folder: .*\(\.txt\)"),
        ("charades-sta", LINES, "", r"contains no \.csv file"),
        ("charades-sta", NO_LENGTHS, "", r"train\.csv, line 1: column 'id' is missing"),
        (ACTIVITY, {"a.json": "[]"}, "", r"a\.json: expected an object of videos"),
        ("didemo", {"train_data.json": "{}"}, "", r"train_data\.json: expected a list"),
        ("table", {"moments.xlsx": ""}, "moments.xlsx", r"xlsx: save it as one of \.csv, \.tsv, "),
        ("table", {"moments.xlsx": ""}, "", r"contains no \.csv or .*\.parquet file$"),
        *(
            (corpus, {}, "nothing", r"no such file or folder; set ingest\.source in")
            for corpus in ("tvr", "charades-sta", "activitynet-captions", "qvhighlights", "didemo")
        ),
    ],
)
def test_a_source_that_cannot_be_read_is_named(tmp_path, corpus, contents, source, message):
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    with pytest.raises(FileError, match=message):
        ingest_corpus(corpus, tmp_path / source, COLUMNS if corpus == "table" else ())


# Stable ids


def test_stable_ids_depend_neither_on_the_order_of_rows_nor_on_params(tmp_path):
    lines = [f"AO8RW {n}.0 {n + 5}.5##person does thing {n}." for n in range(20)]
    write(tmp_path / "Charades_v1_train.csv", CHARADES)
    write(tmp_path / "charades_sta_a.txt", "\n".join(lines))
    before = ids_by_text(ingest_corpus("charades-sta", tmp_path))
    random.Random(3).shuffle(lines)
    write(tmp_path / "charades_sta_a.txt", "\n".join(lines[:7]))
    write(tmp_path / "charades_sta_b.txt", "\n".join(lines[7:]))
    after = ingest_corpus("charades-sta", tmp_path, end_slack=0.0, pool_modalities=["v", "t"])
    assert ids_by_text(after) == before
    assert len(set(before.values())) == 20


@every_suffix
def test_stable_ids_of_a_table_survive_a_new_column_and_another_order(tmp_path, suffix):
    before = ids_by_text(ingest_corpus("table", table(tmp_path, TABLE, suffix), COLUMNS))
    turned = TABLE[TABLE.columns[::-1]].iloc[::-1].assign(note="new")
    assert ids_by_text(ingest_corpus("table", table(tmp_path, turned, suffix), COLUMNS)) == before


def test_stable_ids_differ_where_video_start_end_or_text_do(charades):
    write(charades / "Charades_v1_train.csv", "id,length\nAO8RW,30\nAO8RX,30\n")
    heads = ["AO8RW 1.0 2.0", "AO8RX 1.0 2.0", "AO8RW 1.5 2.0", "AO8RW 1.0 2.5"]
    lines = [*(f"{head}##waves." for head in heads), f"{heads[0]}##waves!"]
    write(charades / "charades_sta_train.txt", "\n".join(lines))
    assert ingest_corpus("charades-sta", charades).moments["moment_id"].nunique() == len(lines)


def test_the_same_moment_twice_is_a_duplicate(charades):
    write(charades / "charades_sta_test.txt", CHARADES_STA)
    result = ingest_corpus("charades-sta", charades)
    assert len(result.moments) == 2
    assert set(result.rejected["file"]) == {"charades_sta_train.txt"}
    assert list_rejections(result) == ["1:duplicate-id", "2:duplicate-id"]


def test_a_stable_id_is_this_one():
    # Committed queries and judgments refer to these ids: they may never change.
    assert stable_id("AO8RW", "0.0", "6.9", "a person.") == "f38ea38c53ffa63b"
    assert stable_id("v", 0, 1.5, "é\udce9") == "d4a3be06546771a7"


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
@pytest.mark.parametrize("corpus", ["activitynet-captions", "didemo"])
def test_a_document_larger_than_its_bound_is_refused_unread(tmp_path, corpus):
    path = tmp_path / "train.json"
    path.touch()
    os.truncate(path, sources.MAX_DOCUMENT_BYTES + 1)  # takes no room on the disk
    with pytest.raises(FileError, match=r"train\.json: larger than 1,024 MiB, and JSON is read w"):
        ingest_corpus(corpus, path)


# Portions


@given(
    st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"\xff", "\ufeff".encode(), b"\x85"])),
    st.integers(1, 9),
)
def test_the_lines_of_all_spans_are_those_of_the_file(pieces, length):
    with tempfile.NamedTemporaryFile() as stream:
        stream.write(b"".join(pieces))
        stream.flush()
        path = Path(stream.name)
        spans = list(sources.cut_lines(path, length))
        assert all(span.length >= length for span in spans[:-1])
        in_spans = [line for span in spans for line in files.read_lines(path, span)]
        assert in_spans == list(files.read_lines(path))


@pytest.mark.parametrize(
    ("corpus", "columns"),
    [
        ("tvr", {}),
        ("qvhighlights", {}),
        ("table", {"start": "at", "video_id": "vid", "description": "desc"}),
    ],
)
def test_the_rows_of_all_portions_are_those_of_the_corpus(corpus, columns, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "PORTION_BYTES", 300)
    for split in ("train", "val"):
        records = [
            {"vid_name": "v", "vid": split, "ts": [n, 5], "relevant_windows": [[1, 2], [n, 9]]}
            | {"qid": n, "desc": "She waves.", "query": "She waves."}
            | {"at": n, "end": 9, "duration": 10}
            for n in range(9)
        ]
        write(tmp_path / f"{split}.jsonl", tuple(records))
    (tmp_path / "train.jsonl").write_text("no json\n" + (tmp_path / "train.jsonl").read_text())
    portions = corpora.cut(corpus, tmp_path)
    assert len(portions) > 4
    rows = [row for some in portions for row in corpora.read_portion(corpus, some, columns)]
    assert rows == list(corpora.read(corpus, tmp_path, columns))
    assert rows[0].problem == "not-json"
    assert len(rows) == 1 + 18 * (1 + (corpus == "qvhighlights"))
