"""Tables as people have them: spreadsheet exports, clock times, usual names of columns."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import corpora
from pipeline.core.csv_files import read_sheet
from pipeline.core.files import FileError
from pipeline.corpora.columns import NEEDED, USUAL, locate
from pipeline.corpora.times import seconds


def rows(tmp_path, content, columns=None, name="moments.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(corpora.read("table", path, columns or {}))


def list_moments(moments):
    return [(r.video_id, r.start, r.end, r.duration, r.description) for r in moments]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("00:01:23.5", 83.5),
        ("1:23", 83.0),
        ("1:02:03", 3723.0),
        ("00:01:23,500", 83.5),
        (" 00:10 ", 10.0),
        ("12,5", 12.5),
        (datetime.timedelta(seconds=83.5), 83.5),
        (datetime.time(0, 1, 23, 500_000), 83.5),
        ("12.5", "12.5"),
        (12.5, 12.5),
        (None, None),
        ("soon", "soon"),
        ("1:75", "1:75"),
        ("-1:23", "-1:23"),
        ("1,234", "1,234"),
    ],
)
def test_a_time_becomes_seconds_and_what_is_none_stays(value, expected):
    assert seconds(value) == expected


def test_three_digits_after_a_comma_are_a_fraction_only_where_commas_are_decimal():
    assert seconds("1,234", decimal_comma=True) == 1.234


@given(st.integers(0, 99), st.integers(0, 59), st.integers(0, 59_999))
def test_a_clock_time_is_its_definition(hours, minutes, thousandths):
    text = f"{hours}:{minutes:02}:{thousandths // 1000:02}.{thousandths % 1000:03}"
    expected = hours * 3600 + minutes * 60 + thousandths / 1000
    assert seconds(text) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("start", ["", "\ufeff"], ids=["plain", "marked"])
def test_any_usual_separator_is_found(tmp_path, mark, start):
    lines = ["Video", "Start Time", "End-Time", "Caption"], ["v", "0:01", "0:02.5", "Hi, you; all"]
    quoted = [[f'"{cell}"' for cell in line] for line in lines]
    text = start + "\r\n".join(mark.join(line) for line in quoted)
    assert list_moments(rows(tmp_path, text)) == [("v", 1.0, 2.5, None, "Hi, you; all")]


def test_a_german_spreadsheet(tmp_path):
    text = (
        'sep=;\r\nvideo_id;start;end;duration;description;;\r\n'
        'v;0,5;1,250;"12,5";"Zwei Zeilen\r\nin einer Zelle";;\r\n'
        ";;;;;;\r\n"
        "w;1:02;1:03;;Ein Hund;;\r\n;;;;;;\r\n"
    )  # fmt: skip
    moments = rows(tmp_path, text)
    assert list_moments(moments) == [
        ("v", 0.5, 1.25, 12.5, "Zwei Zeilen\r\nin einer Zelle"),
        ("w", 62.0, 63.0, None, "Ein Hund"),
    ]
    assert [row.line for row in moments] == [3, 6]


def test_tabs_in_a_tsv(tmp_path):
    text = "clip_id\tfile\tbegin\tstop\tsentence\n7\tv\t1\t2\tA, b; c\n"
    assert list_moments(rows(tmp_path, text, name="m.tsv")) == [("v", "1", "2", None, "A, b; c")]


@pytest.mark.parametrize("name", ["m.csv", "m.tsv"])
def test_utf_16_is_named(tmp_path, name):
    with pytest.raises(FileError, match="UTF-16"):
        rows(tmp_path, "video\tstart\tend\ttext\n".encode("utf-16"), name=name)


def test_a_windows_header_names_its_encoding(tmp_path):
    with pytest.raises(FileError, match=r"not UTF-8.*Windows-1252.*iconv -f CP1252"):
        rows(tmp_path, "vidéo;start;end;text\n".encode("cp1252"))


@pytest.mark.parametrize("field", USUAL)
def test_every_usual_name_is_found_in_any_spelling(tmp_path, field):
    for name in USUAL[field]:
        spelt = name.replace("_", " ").title()
        header = [spelt, *(f"{USUAL[needed][0]}" for needed in NEEDED if needed != field)]
        assert locate(tmp_path, header, {})[field] == spelt


def test_no_name_is_usual_for_two_fields():
    names = [name for usual in USUAL.values() for name in usual]
    assert len(names) == len(set(names))


def test_several_columns_for_one_field_are_an_error_naming_both(tmp_path):
    with pytest.raises(FileError, match=r"'start', 'begin' may each be the start.*ingest\.columns"):
        rows(tmp_path, "video,start,begin,end,text\n")
    named = rows(tmp_path, "video,start,begin,end,text\nv,1,2,3,Hi\n", {"start": "begin"})
    assert list_moments(named) == [("v", "2", "3", None, "Hi")]


def test_a_missing_column_names_what_was_looked_for_and_found(tmp_path):
    with pytest.raises(FileError, match=r"of end \(end, .*found: 'video', 'start', 'txt'"):
        rows(tmp_path, "video,start,txt\n")


def test_all_columns_that_are_missing_or_unclear_are_named_at_once(tmp_path):
    with pytest.raises(FileError) as caught:
        rows(tmp_path, "clip,start,begin,txt\n", {"moment_id": "key"})
    lines = str(caught.value).splitlines()
    assert [name for name in ("'key'", "'start', 'begin'") if name not in str(caught.value)] == []
    assert lines[-1].endswith(
        "ingest.columns: {video_id: ITS COLUMN, end: ITS COLUMN, description: ITS COLUMN}"
    )


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("videoid heading startTime endtime video_duration duration", [0, 2, 3, 4, 1]),
        ("VideoID narration start_timestamp stop_timestamp length", [0, 2, 3, 4, 1]),
        ("Video-Name Caption T-Start T-End duration Video Length", [0, 2, 3, 5, 1]),
    ],
)
def test_names_of_columns_are_found_joined_and_by_the_certain_one(tmp_path, header, columns):
    names = header.replace("Video Length", "Video.Length").split()
    located = locate(tmp_path, names, {})
    order = ["video_id", "start", "end", "duration", "description"]
    assert [located[field] for field in order] == [names[number] for number in columns]


def test_a_column_of_a_usual_name_may_be_another_thing(tmp_path):
    text = "id,video,start,end,duration,text\nann,v,1,3,2,Hi\n"
    [row] = rows(tmp_path, text, {"moment_id": None, "duration": None})
    assert list_moments([row]) == [("v", "1", "3", None, "Hi")]
    assert len(row.moment_id) == 16, "made, as without such a column"
    with pytest.raises(FileError, match=r"ingest\.columns: \{start: ITS COLUMN\}"):
        rows(tmp_path, text, {"start": None})


def test_a_suffix_in_capitals_is_read_alone_and_in_a_folder(tmp_path):
    text = "video,start,end,text\n{},1,2,Hi\n"
    assert len(rows(tmp_path, text.format("a"), name="A.CSV")) == 1
    rows(tmp_path, text.format("b"), name="b.csv")
    moments = corpora.read("table", tmp_path, {})
    assert sorted(row.video_id for row in moments) == ["a", "b"]


def test_json_lines_need_not_all_have_every_field(tmp_path):
    text = '{"video": "v", "start": 1}\n{"video": "w", "start": 1, "end": 2, "text": "Hi"}\n'
    assert list_moments(rows(tmp_path, text, name="m.jsonl"))[1] == ("w", 1, 2, None, "Hi")


def test_an_id_does_not_depend_on_how_a_time_is_read(tmp_path):
    [first] = rows(tmp_path, "video;start;end;text\nv;0,5;1;Hi\n")
    [second] = rows(tmp_path, 'video,start,end,text\nv,"0,5",1,Hi\n')
    assert first.moment_id == second.moment_id


def test_the_sheet_says_its_separator(tmp_path):
    (tmp_path / "m.csv").write_text("a\n1\n")
    assert read_sheet(tmp_path / "m.csv").delimiter == ","
