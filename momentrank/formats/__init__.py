"""File formats of qrels and runs: reading here, `validate` and `write` in modules of their own."""

from momentrank.formats.read import Lists as Lists
from momentrank.formats.read import load_lists as load_lists
from momentrank.formats.read import load_qrels as load_qrels
from momentrank.formats.read import load_run as load_run
from momentrank.formats.read import load_truth as load_truth
from momentrank.formats.read import read_qrels as read_qrels
from momentrank.formats.read import read_run as read_run
from momentrank.formats.registry import QRELS_FORMATS as QRELS_FORMATS
from momentrank.formats.registry import RUN_FORMATS as RUN_FORMATS
from momentrank.formats.registry import official_convention as official_convention
from momentrank.formats.source import FormatError as FormatError
from momentrank.formats.table import Truth as Truth
from momentrank.formats.text import TIMES as TIMES
from momentrank.formats.videos import read_corpus as read_corpus
