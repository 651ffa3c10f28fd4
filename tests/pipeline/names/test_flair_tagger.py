"""The adapter to Flair: how a tagger is found and loaded, and what it makes of texts."""

import pickle
import shutil
import threading

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lazy import Lazy

sharded_tagger = Lazy("pipeline.names.sharded_tagger")
flair_tagger, torch = Lazy("pipeline.names.flair_tagger"), Lazy("torch")
flair = Lazy("flair")

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TEXTS = [
    "Jennifer waves to Michael.",
    "A woman waves.",
    "Dr.Morgan and Jessica sit down on the sofa while a man talks to Patricia.",
    "",
    "\u200b",
    "Zo\u00eb \U0001f600 walks.",
]


@pytest.fixture(scope="module")
def tagger(tagger_file):
    return flair_tagger.load(tagger_file)


def test_names_are_found_with_their_places(tagger):
    names = tagger.find(TEXTS)
    assert [span.text for span in names[0]] == ["Jennifer", "Michael"]
    assert names[1] == []
    assert {"Jessica", "Patricia"} <= {span.text for span in names[2]}
    for text, spans in zip(TEXTS, names, strict=True):
        assert all(text[span.start : span.end] == span.text for span in spans)
        assert all(0.0 < span.score <= 1.0 for span in spans)


@pytest.mark.parametrize("shards", [3, 8])
def test_shards_find_the_same_names_with_the_same_scores(
    tagger, tagger_file, engine, monkeypatch, shards
):
    monkeypatch.setattr("pipeline.names.flair_tagger.CHUNK", 2)
    monkeypatch.setattr("pipeline.core.engine.text_chunks.BATCHES", 1)
    engine = engine.model_copy(update={"shards": shards, "workers": 1})
    sharded = sharded_tagger.ShardedTagger(tagger_file, "rewrite", engine)
    texts = [*TEXTS, *(f"{text} Then {text}" for text in TEXTS), TEXTS[0]]
    assert sharded.find(texts) == tagger.find(texts)
    assert sharded.find([]) == []


def test_the_tokenizer_is_set_up_before_threads_share_it(tagger, monkeypatch):
    """Set up while another thread is at it, it ends with 'Already borrowed'."""
    tokenizer = tagger._model.embeddings.embeddings[0].tokenizer
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.backend_tokenizer.no_truncation()
    where = []
    kind = type(tokenizer)
    monkeypatch.setattr(kind, "set_truncation_and_padding", _note_threads(kind, where))
    monkeypatch.setattr("pipeline.names.flair_tagger.CHUNK", 1)
    tagger.find(TEXTS)
    assert where == [threading.main_thread()]


def _note_threads(kind, where):
    """Return a tokenizer's own setting up, which notes the thread where it changes anything."""
    real = kind.set_truncation_and_padding

    def set_and_note(self, *args, **options):
        before = (self.backend_tokenizer.padding, self.backend_tokenizer.truncation)
        real(self, *args, **options)
        if (self.backend_tokenizer.padding, self.backend_tokenizer.truncation) != before:
            where.append(threading.current_thread())

    return set_and_note


@pytest.mark.parametrize("before", ["\u200b", "\ufeff\u200c", "x\ufe0f\u2028\u2029", "\x81 \x8d"])
def test_a_name_is_found_where_it_stands_behind_what_flair_takes_out(tagger, before):
    text = f"{before * 3}Jennifer waves to {before}Michael."
    [spans] = tagger.find([text])
    assert [span.text for span in spans] == ["Jennifer", "Michael"]
    assert [text[span.start : span.end] for span in spans] == ["Jennifer", "Michael"]


@given(
    st.text(
        st.one_of(st.characters(), st.sampled_from("Aa .'-\u200b\ufeff\x81\x93\u2028")), max_size=40
    )
)
@example("0-\r0")
@example("a-\nb\x85c-\u2028d-\x0be")
def test_every_word_stands_in_the_text_where_it_says(text):
    for token in flair_tagger.sentence(text):
        part = text[token.start_position : token.end_position]
        assert part == token.text or set(part) & set(map(chr, range(0x80, 0x9A)))


def test_a_text_is_tagged_alike_in_any_company(tagger):
    texts = TEXTS[:3] * 50 + [f"Jessica holds {n} letters." for n in range(200)]
    together = tagger.find(texts)
    for text in TEXTS[:3]:
        [alone] = tagger.find([text])
        for spans in (together[texts.index(text)], together[texts.index(text) + 3]):
            assert [span[:3] for span in spans] == [span[:3] for span in alone]
            assert [s.score for s in spans] == pytest.approx([s.score for s in alone], abs=1e-4)


def test_nothing_to_tag_is_no_error(tagger):
    assert tagger.find([]) == []


def test_a_title_that_flair_leaves_on_a_name_is_taken_off():
    assert flair_tagger._span("Dr.Lee sits", 0, 6, 0.9) == (3, 6, "Lee", 0.9)
    assert flair_tagger._span("Drew sits", 0, 4, 0.9) == (0, 4, "Drew", 0.9)


# --- where a tagger comes from


def test_a_folder_and_a_file_are_the_same(tagger_file, tmp_path):
    path = shutil.copy(tagger_file, tmp_path / "pytorch_model.bin")
    assert flair_tagger.locate(str(tmp_path), None) == path == flair_tagger.locate(str(path), None)


@pytest.mark.usefixtures("offline")
def test_a_hub_id_with_its_commit_goes_through_the_same_loading(tagger_file, tmp_path, monkeypatch):
    """As `flair/ner-english-large` does; the hub's cache stands for the hub."""
    snapshot = tmp_path / "models--flair--ner-english-large" / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    shutil.copy(tagger_file, snapshot / "pytorch_model.bin")
    monkeypatch.setattr("huggingface_hub.file_download.HF_HUB_CACHE", str(tmp_path), raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    path = flair_tagger.locate("flair/ner-english-large", COMMIT)
    assert path.resolve() == (snapshot / "pytorch_model.bin").resolve()
    assert [span.text for span in flair_tagger.load(path).find(TEXTS[:1])[0]] == [
        "Jennifer",
        "Michael",
    ]


@pytest.mark.parametrize("revision", [None, "main", COMMIT[:39], COMMIT + "0"])
def test_a_hub_id_without_its_commit_is_refused(revision):
    with pytest.raises(flair_tagger.TaggerError, match=r"names\.revision: name the commit"):
        flair_tagger.locate("flair/ner-english-large", revision)


@pytest.mark.usefixtures("offline")
def test_a_hub_that_does_not_give_it_says_what_to_do():
    with pytest.raises(flair_tagger.TaggerError, match="name a file, or `builtin`"):
        flair_tagger.locate("nobody/no-such-tagger", COMMIT)


def test_a_folder_without_a_tagger_is_a_clear_error(tmp_path):
    with pytest.raises(flair_tagger.TaggerError, match=r"contains no model\.pt"):
        flair_tagger.locate(str(tmp_path), None)


def test_the_builtin_says_what_trains_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(flair_tagger.TaggerError, match="dvc repro tagger"):
        flair_tagger.locate("builtin", None)


# --- files that are no tagger, and taggers of another making


@pytest.mark.parametrize("content", [b"", b"\x80\x02", b"no pickle", pickle.dumps({"a": 1})])
def test_a_file_of_another_kind_is_a_clear_error(tmp_path, content):
    path = tmp_path / "model.pt"
    path.write_bytes(content)
    with pytest.raises(flair_tagger.TaggerError, match=r"names\.model: .* is not a Flair tagger"):
        flair_tagger.load(path)


def save_untrained(tiny_bert, labels, tmp_path):
    """Return the file of a tagger as Flair's own: a transformer with a linear layer on it."""
    torch.manual_seed(3)
    dictionary = flair.data.Dictionary(add_unk=False)
    for label in labels:
        dictionary.add_item(label)
    dictionary.span_labels = True
    tagger = flair.models.SequenceTagger(
        flair.embeddings.TransformerWordEmbeddings(str(tiny_bert), layers="-1", fine_tune=True),
        dictionary,
        tag_type="ner",
        use_rnn=False,
        use_crf=False,
        reproject_embeddings=False,
    )
    tagger.save(tmp_path / "pytorch_model.bin")
    return tmp_path / "pytorch_model.bin"


def test_a_tagger_that_knows_no_person_is_refused(tiny_bert, tmp_path):
    with pytest.raises(flair_tagger.TaggerError, match="has no label PER"):
        flair_tagger.load(save_untrained(tiny_bert, ["LOC", "ORG"], tmp_path))


@pytest.mark.parametrize("person", ["PER", "PERSON"])
def test_of_several_labels_only_persons_count(tiny_bert, tmp_path, person):
    tagger = flair_tagger.load(save_untrained(tiny_bert, [person, "LOC"], tmp_path))
    texts = [f"a {w} man with the {v}" for w in ("sofa", "door", "on") for v in ("coffee", "her")]
    weights = tagger._model.linear
    for label, names_all in ((person, True), ("LOC", False)):
        with torch.no_grad():
            weights.bias.zero_()
            weights.weight.zero_()
            weights.bias[tagger._model.label_dictionary.get_idx_for_item(f"S-{label}")] = 9.0
        assert all(bool(spans) is names_all for spans in tagger.find(texts))
