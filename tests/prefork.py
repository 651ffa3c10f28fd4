"""Commands of a test's project without the second in which each imports its libraries.

`make_environment` makes a `.venv` whose `python` and `dvc` ask one process, which has imported the
libraries and none of our modules, to fork the command: it runs in the caller's folder, with its
environment, its standard streams and its signals, imports our code from that folder, and its exit
status is theirs. The processes that a command or a test spawns with multiprocessing are forked in
the same way, and so are programs that a test hands over by `-c`. Other commands go to the real
interpreter, and so does much of what a test kills, and what a newcomer types of the README's short
sections.

    python prefork.py SOCKET    # the process; it ends when nobody holds a connection any more
"""

import array
import atexit
import fcntl
import gc
import importlib
import json
import os
import re
import runpy
import selectors
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import traceback
import types
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, partial
from multiprocessing import spawn
from pathlib import Path

import quick_dvc

LIBRARIES = (
    "pandas", "pandera.pandas", "pyarrow.parquet", "pydantic", "ruamel.yaml", "httpx", "psutil",
    "tqdm", "scipy.stats", "sklearn", "PIL.Image", "inflect", "duckdb", "jinja2", "numpy.linalg",
    "sentence_transformers", "flair", "faiss", "openai", "lemminflect", "py3langid.langid",
    "dvc.cli.parser", "dvc.repo.reproduce", "dvc.stage.run", "dvc.repo.status", "dvc.repo.index",
    "dvc.cachemgr", "dvc.data_cloud", "dvc.dirs", "dvc.lock", "dvc.repo.artifacts", "dvc.rwlock",
    "dvc.repo.open_repo", "dvc.repo.graph", "dvc.repo.datasets", "dvc_data.hashfile.status",
    "dvc_render", "dulwich.worktree", "configobj", "fsspec.implementations.memory",
    "label_studio_sdk.base_client", "label_studio_sdk.core.request_options", "markdown_it",
    "cryptography.hazmat.primitives.ciphers.aead", "cryptography.hazmat.primitives.kdf.hkdf",
    "xml.sax.saxutils", "dotenv", "iso639", "networkx", "pygit2", "dulwich.ignore",
    "dvc.utils.strictyaml", "dvc.repo.brancher", "dvc.repo.stage", "dvc.repo.metrics.show",
    "dvc.repo.params", "dvc.repo.plots", "dvc.render.match", "dvc.render.convert", "dvc_data.fs",
    "dvc_data.hashfile.db.local", "rich.json", "PIL.ImageDraw", "imageio_ffmpeg", "names",
    "snowballstemmer", "tenacity", "tomllib", "multiprocessing.popen_spawn_posix",
    "transformers.models.bert.modeling_bert", "transformers.models.bert.tokenization_bert_fast",
    "pandas.io.formats.csvs", "pandas.core.arrays.arrow.extension_types",
    "faker.providers.person.en_GB", "faker.providers.person.en_IN",
    "faker.providers.address.en", "faker.providers.address.en_US",
)  # fmt: skip
OF_THE_INTERPRETER = ("PYTHON", "LD_", "OMP_", "MKL_", "OPENBLAS_")
"""With other such variables than those of the tests, a command is not forked."""
MOST_FILES = 64
"""Open files of a command: its standard streams, and the pipes of a process that is spawned."""
HIGH = 500
"""File descriptors from here on are nobody's."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LATER = {"PYTHONUNBUFFERED", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONBREAKPOINT"}
"""They are obeyed in a forked command, too; Ray sets the last in the process that uses it."""
PACKAGES = ("pipeline", "annotation", "support", "tools", "dvc", "submitit")
FORKED = {
    "python": f'words[:1] == ["-m"] and words[1].split(".")[0] in {PACKAGES}'
    ' or words[:1] == ["-c"] and "resource_tracker" not in words[1]',  # it inherits a pipe
    "dvc": "True",
}
"""Programs, and of which of their `words` the commands are forked."""
CLIENT = """#!{python} -IS
import array, json, os, signal, socket, struct, sys
name, given = os.path.basename(sys.argv[0]), sys.argv[1:]
words = given[given[:1] == ["-u"]:]
spawned = words[:1] == ["-c"] and words[-1] == "--multiprocessing-fork"
ours = {ours}
pipes = [int(one) for one in os.listdir("/proc/self/fd") if int(one) > 2] if spawned else []
pipes = [one for one in pipes if os.path.exists(f"/proc/self/fd/{{one}}")]  # not the listing's own
channel = socket.socket(socket.AF_UNIX)
got = b""
if ours:
    signals = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
    handlers = {{one: signal.getsignal(one) for one in signals}}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    order = {{"name": name, "words": words, "cwd": os.getcwd(), "env": dict(os.environ),
             "program": sys.argv[0], "unbuffered": words != given, "files": [0, 1, 2, *pipes],
             "ignored": [one for one in signals if handlers[one] == signal.SIG_IGN]}}
    text = json.dumps(order).encode()
    try:
        channel.connect({address!r})
        head = struct.pack("!I", len(text))
        files = array.array("i", order["files"])
        channel.sendmsg([head], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
        channel.sendall(text)
        got = channel.recv(1)
    except OSError:
        pass
    if got == b"+":
        for one in signals:
            if handlers[one] != signal.SIG_IGN:
                signal.signal(one, lambda number, _: channel.send(bytes([number])))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
if got != b"+":
    os.execv({real!r} + name, [{real!r} + name, *given])
sockets = True
while sockets:  # a socket that it listens on, and this process is to hold, or its status
    got, sockets, *_ = channel.recvmsg(4, socket.CMSG_SPACE(4), socket.MSG_WAITALL)
status = struct.unpack("!i", got)[0]
if status < 0:
    signal.signal(-status, signal.SIG_DFL) if -status != signal.SIGKILL else None
    os.kill(os.getpid(), -status)
os._exit(status)
"""


def make_environment(
    folder: Path,
    address: Path,
    environment: Path = Path(sys.executable).parents[1],
    forked: Mapping[str, str] = FORKED,
) -> None:
    """Make an environment once more, by default that which runs the tests, with other programs."""
    real = environment / "bin"
    (folder / "bin").mkdir(parents=True)
    for path in (*environment.iterdir(), *real.iterdir()):
        place = folder / path.relative_to(environment)
        if path != real and path.name not in {*forked, "activate", "empty.lock"}:
            place.symlink_to(path)
    for name, ours in forked.items():
        text = CLIENT.format(
            python=sys.executable, ours=ours, address=str(address), real=f"{real}/"
        )
        (folder / "bin" / name).write_text(text)
        (folder / "bin" / name).chmod(0o755)
    text = (real / "activate").read_text()
    text = re.sub(r"(?m)^(\s*(?:export )?VIRTUAL_ENV)=.*$", rf'\1="{folder}"', text)
    (folder / "bin/activate").write_text(text)


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a library or the interpreter reads when it starts."""
    names = {name for name in environment if name.startswith(OF_THE_INTERPRETER)}
    return {name: environment[name] for name in names - LATER}


def hold(address: Path, python: str = sys.executable, program: str = __file__) -> socket.socket:
    """Start the process where it does not run; return a connection that keeps it."""
    try:
        return _connect(address)
    except OSError:
        address.unlink(missing_ok=True)
    own = {name: os.environ[name] for name in os.environ if name not in LATER}
    with address.with_suffix(".log").open("wb") as log:
        server = subprocess.Popen(
            [python, program, str(address)],
            env=own,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    while server.poll() is None:
        with suppress(OSError):
            connection = _connect(address)
            server.returncode = 0  # it may outlive this process
            return connection
        time.sleep(0.05)
    raise RuntimeError(address.with_suffix(".log").read_text())


def _connect(address: Path) -> socket.socket:
    channel = socket.socket(socket.AF_UNIX)
    try:
        channel.connect(str(address))
        channel.sendall(bytes(4))  # an empty order
    except OSError:
        channel.close()
        raise
    return channel


class Server:
    """Forks commands; one thread, one loop."""

    def __init__(self, address: str) -> None:
        self._ready = selectors.DefaultSelector()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(address)
        self._listener.listen(64)
        self._ready.register(self._listener, selectors.EVENT_READ, self._accept)
        self._own = variables(os.environ)
        self._open = 0

    def serve(self) -> None:
        """Work until nobody is connected any more."""
        while True:
            for key, _ in self._ready.select():
                if self._ready.get_map().get(key.fd) is key:  # it may just have been closed
                    key.data()
            if not self._open:
                return

    def _accept(self) -> None:
        channel, _ = self._listener.accept()
        self._open += 1
        head, received, *_ = channel.recvmsg(
            4, socket.CMSG_SPACE(4 * MOST_FILES), socket.MSG_WAITALL
        )
        files = array.array("i")
        for _, _, data in received:
            files.frombytes(data)
        size = int.from_bytes(head, "big")
        if not size:
            self._ready.register(channel, selectors.EVENT_READ, lambda: self._forget(channel))
            return
        text, child = channel.recv(size, socket.MSG_WAITALL), 0
        order = json.loads(text) if len(text) == size else {}  # it may have been killed over it
        whole = bool(order) and len(files) == len(order["files"])
        others = variables(order.get("env", {})).items() ^ self._own.items()
        if whole and others:
            sys.stderr.write(f"not forked for {dict(others)}: {order['words']}\n")
        elif whole:
            child = os.fork()
            if child == 0:
                self._become(channel, order, files)
            with suppress(OSError):  # it has done so itself, and ended
                os.setpgid(child, child)
        for file in files:
            os.close(file)
        if not child:  # the real interpreter does it
            self._open -= 1
            channel.close()
            return
        with suppress(OSError):
            channel.sendall(b"+")
        words = " ".join([order["name"], *order["words"]])
        ended = os.pidfd_open(child)

        def end() -> None:
            self._end(channel, child, ended, words)

        self._ready.register(ended, selectors.EVENT_READ, end)
        self._ready.register(channel, selectors.EVENT_READ, lambda: self._pass_on(channel, child))

    def _forget(self, channel: socket.socket) -> None:
        self._ready.unregister(channel)
        channel.close()
        self._open -= 1

    def _pass_on(self, channel: socket.socket, child: int) -> None:
        """Send a command's processes the signals that its caller got, be it SIGKILL."""
        try:
            signals = channel.recv(16)
        except OSError:
            signals = b""
        if not signals:
            self._ready.unregister(channel)
        for number in signals or [signal.SIGKILL]:
            with suppress(ProcessLookupError):
                (os.killpg if signals else os.kill)(child, number)

    def _end(self, channel: socket.socket, child: int, ended: int, words: str) -> None:
        _, status, used = os.wait4(child, 0)
        sys.stderr.write(f"{used.ru_utime + used.ru_stime:.2f} s of CPU: {words}\n")
        self._ready.unregister(ended)
        os.close(ended)
        with suppress(OSError):
            channel.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))
        with suppress(KeyError):
            self._ready.unregister(channel)
        channel.close()
        self._open -= 1

    def _become(self, channel: socket.socket, order: dict, files: array.array) -> None:
        """Be the command, to its end."""
        for key in list(self._ready.get_map().values()):
            close = getattr(key.fileobj, "close", partial(os.close, key.fd))
            close()
        self._ready.close()
        channel, *moved = (_move(file, HIGH) for file in (channel.detach(), *files))
        for place, file in zip(order["files"], moved, strict=True):
            os.dup2(file, place)
            os.close(file)
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number in order["ignored"]:
            signal.signal(number, signal.SIG_IGN)
        os.chdir(order["cwd"])
        os.environ.clear()
        os.environ.update(order["env"])
        sys.dont_write_bytecode = "PYTHONDONTWRITEBYTECODE" in order["env"]
        at_once = order["unbuffered"] or bool(order["env"].get("PYTHONUNBUFFERED"))
        sys.stdout.reconfigure(line_buffering=at_once or sys.stdout.isatty())
        _exit(_run(partial(self.run, socket.socket(fileno=channel), order)))

    def run(self, channel: socket.socket, order: dict) -> None:
        """Do what the command does; the channel is to its caller."""
        channel.close()
        name, words = order["name"], order["words"]
        if name == "python":
            sys.executable = order["program"]
            spawn.set_executable(sys.executable)
        first = str(Path(sys.executable).parent if name == "dvc" else Path.cwd())
        paths = order["env"].get("PYTHONPATH", "").split(os.pathsep)
        sys.path[:0] = [first, *filter(None, paths)]
        importlib.invalidate_caches()
        if name == "dvc":
            from dvc.cli import main

            sys.argv = [f"{first}/dvc", *words]
            sys.exit(main())
        if words[0] == "-c":
            sys.argv = ["-c", *words[2:]]
            sys.modules["__main__"] = types.ModuleType("__main__")
            exec(words[1], sys.modules["__main__"].__dict__)  # noqa: S102  (as `-c` does)
            return
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)


def _move(descriptor: int, place: int) -> int:
    """Return another descriptor of the same file, from `place` on, for one that is closed."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, place)
    os.close(descriptor)
    return moved


def load_data() -> None:
    """Let libraries load now what they load, and keep, when they are first asked."""
    import httpx
    import lemminflect
    import pandas as pd
    from pandera.pandas import Column, DataFrameSchema
    from py3langid import langid

    quick_dvc.install()
    ssl.create_default_context = cache(ssl.create_default_context)
    httpx.create_ssl_context()
    DataFrameSchema({"any": Column(int)}).validate(pd.DataFrame({"any": [1]}))
    lemminflect.getAllLemmas("walks")
    lemminflect.getAllInflections("walk")
    langid._load_model_file = cache(langid._load_model_file)
    langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE)


def _run(command: Callable[[], None]) -> int:
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        command()
    except SystemExit as exc:
        if exc.code is not None and not isinstance(exc.code, int):
            sys.stderr.write(f"{exc.code}\n")
        return exc.code if isinstance(exc.code, int) else int(exc.code is not None)
    except KeyboardInterrupt:
        traceback.print_exc()
        return -signal.SIGINT
    except BaseException:  # noqa: BLE001  (as the interpreter would)
        traceback.print_exc()
        return 1
    return 0


def _exit(status: int) -> None:
    """End as the interpreter does, without taking a forked memory apart."""
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(BrokenPipeError, ValueError):
            stream.flush()
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status & 0xFF)


def serve(
    server: type[Server], libraries: tuple[str, ...], load: Callable[[], None] = lambda: None
) -> None:
    """Be the process."""
    del sys.path[0]
    for library in libraries:
        importlib.import_module(library)
    load()
    gc.collect()
    gc.freeze()  # what was forked shares its memory longer
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # they are the commands'
    server(sys.argv[1]).serve()


if __name__ == "__main__":
    serve(Server, LIBRARIES, load_data)
