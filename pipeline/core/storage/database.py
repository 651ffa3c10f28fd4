"""Tables larger than memory: DuckDB within `engine.table_memory`, spilling to a folder of its own.

Rows go in and come out as pandas frames, a batch at a time, so that the code for a row is written
only once. Texts sort by code point, as in pandas; rows have no order unless a query sets one.
"""

import shutil
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import getpid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa

from momentrank.errors import MomentRankError
from pipeline.core import files
from pipeline.core.batches import ROWS, count_rows
from pipeline.core.parallel import cores
from pipeline.core.storage import mapped
from pipeline.core.table import SHOWN_PROBLEMS, Table

if TYPE_CHECKING:
    import duckdb

FOLDER = Path(".cache/tables")
"""Each process has a folder here, as large as its tables, which is deleted when it ends."""
ROW = "row"
"""The column that `load` makes of the frames' index: the number of a table's row."""
ROW_BYTES = 2_000
"""Memory that pandas needs for a row, at most: 1 to 2 KB were measured (docs/scaling.md)."""
SHARE = 0.5
"""DuckDB's share of the memory; the rest is for Python and the current batch."""
MIN_MEGABYTES = 256
"""DuckDB does not work with less."""


class DatabaseError(MomentRankError):
    """The memory or the disk is too small for the tables."""


def fits(gigabytes: float, rows: int) -> bool:
    """Tell whether pandas can work on a table of `rows` rows within `gigabytes` of memory."""
    return rows * ROW_BYTES <= gigabytes * 1e9


@dataclass(frozen=True)
class Database:
    """Tables on disk that last as long as the work of one stage."""

    connection: "duckdb.DuckDBPyConnection"
    folder: Path
    """For other files that are needed that long."""

    def load(self, name: str, frames: Iterable[pd.DataFrame]) -> None:
        """Store frames of the same columns, one at least, as a table with a column `row`."""
        verb = f"create table {name} as"
        for frame in frames:
            self.insert(verb, frame)
            verb = f"insert into {name}"

    def load_files(self, name: str, paths: Iterable[Path], columns: Iterable[str]) -> None:
        """Store columns of Parquet files, one at least, as a table with a column `row`."""
        first, verb = 0, f"create table {name} as"
        named = ", ".join(f'"{column}"' for column in columns)
        for path in paths:
            self.run(
                f"{verb} select file_row_number + $first as row, {named}"  # noqa: S608  (names of ours)
                " from read_parquet($path, file_row_number = true)",
                first=first,
                path=str(path),
            )
            first, verb = first + count_rows(path), f"insert into {name}"

    def insert(self, verb: str, frame: pd.DataFrame) -> None:
        """Run `verb`, as `insert into` a table, on a frame with its column `row`."""
        indexed = frame.rename_axis(ROW).reset_index()
        self.connection.register("batch", pa.Table.from_pandas(indexed, preserve_index=False))
        self.run(f"{verb} from batch")
        self.connection.unregister("batch")

    def check_key(self, table: Table, name: str) -> None:
        """Check the key of the table `name`, loaded from batches of `table`.

        Raises:
            TableError: a key appears twice.
        """
        key = ", ".join(table.key)
        self.run(f"create table twice as select {key} from {name} group by all having count(*) > 1")  # noqa: S608  (names of ours)
        if self.value("select count(*) from twice"):
            rows = f"from {name} join twice using ({key})"
            first = self.frame(f"select {name}.* {rows} order by row limit {SHOWN_PROBLEMS}")
            table.refuse_repeats(first.set_index(ROW), self.value(f"select count(*) {rows}"))
        self.run("drop table twice")

    def run(self, sql: str, **parameters: object) -> None:
        """Run a statement; in it, `$name` stands for the parameter of that name."""
        self.connection.execute(sql, parameters).complete()

    def value(self, sql: str, **parameters: object) -> Any:  # noqa: ANN401  (as the query says)
        """Return the one cell of an answer."""
        ((cell,),) = self.connection.execute(sql, parameters).fetchall()
        return cell

    def arrow(self, sql: str, **parameters: object) -> pa.RecordBatchReader:
        """Return an answer in batches; meanwhile the database accepts other statements."""
        return self.connection.cursor().sql(sql, params=parameters).to_arrow_reader(ROWS)

    def frame(self, sql: str, **parameters: object) -> pd.DataFrame:
        """Return a whole answer."""
        answer: pd.DataFrame = self.arrow(sql, **parameters).read_pandas()
        return answer

    def map(self, sql: str, **parameters: object) -> pd.DataFrame:
        """Return a whole answer of any size, memory-mapped."""
        return mapped.map_frames(self.folder, self.frames(sql, **parameters))

    def frames(self, sql: str, **parameters: object) -> Iterator[pd.DataFrame]:
        """Yield an answer in batches; an empty one is a frame without rows."""
        answer = self.arrow(sql, **parameters)
        yield answer.schema.empty_table().to_pandas()
        for batch in answer:
            yield batch.to_pandas()


@contextmanager
def open_database(gigabytes: float) -> Iterator[Database]:
    """Open an empty database that uses its share of `gigabytes` at most; delete it afterwards.

    Raises:
        DatabaseError: the memory, or the disk below `FOLDER`, is too small.
    """
    import duckdb  # noqa: PLC0415  (most corpora need none)

    folder = _make_folder()
    limit = max(MIN_MEGABYTES, int(gigabytes * SHARE * 1000))
    config: dict[str, Any] = {
        "memory_limit": f"{limit}MB",
        "temp_directory": str(folder / "spilled"),
        "threads": cores(),
        "preserve_insertion_order": False,
        "arrow_large_buffer_size": True,
        "autoinstall_known_extensions": False,
    }
    try:
        with duckdb.connect(folder / "tables.duckdb", config=config) as connection:
            yield Database(connection, folder)
    except (duckdb.OutOfMemoryException, duckdb.IOException) as exc:
        if refused := files.refusal(folder):
            reason = f"{(refused.strerror or '').lower()}; the tables need space there"
            raise DatabaseError(f"{folder}: {reason}") from exc
        if isinstance(exc, duckdb.IOException):
            raise DatabaseError(f"{folder}: {_first_line(exc)}") from exc
        raise DatabaseError(
            f"engine.table_memory: {gigabytes:g} GB is too little for the tables of this corpus"
            f" ({_first_line(exc)}); raise it"
        ) from exc
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def read_rows(
    table: Table, gigabytes: float, wanted: Callable[[pd.DataFrame], pd.Series] | None = None
) -> pd.DataFrame:
    """Return the rows of a Parquet table, or those that are `wanted`; many are memory-mapped.

    All of them are checked; errors as in `Table.read` and `open_database`.
    """
    if fits(gigabytes, table.count_rows()):
        frame = table.read()
        return frame if wanted is None else frame[wanted(frame)].reset_index(drop=True)

    def load(database: Database) -> Iterator[pd.DataFrame]:
        keys = "create table keys as"
        for frame in table.read_batches():
            database.insert(keys, frame[list(table.key)])
            keys = "insert into keys"
            yield frame if wanted is None else frame[wanted(frame)]
        database.check_key(table, "keys")

    with open_database(gigabytes) as database:
        return mapped.map_frames(database.folder, load(database))


def _first_line(exc: Exception) -> str:
    return str(exc).partition("\n")[0]


def _make_folder() -> Path:
    """Make this process's folder; delete those of killed processes of this machine."""
    import psutil  # noqa: PLC0415  (--help needs none)

    host = socket.gethostname()
    for path in FOLDER.glob(f"{host}.*"):
        pid = path.suffix.removeprefix(".")
        if pid.isdigit() and (int(pid) == getpid() or not psutil.pid_exists(int(pid))):
            shutil.rmtree(path, ignore_errors=True)
    folder = FOLDER / f"{host}.{getpid()}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder.absolute()
