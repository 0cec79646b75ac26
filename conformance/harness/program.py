"""Runs a target program: starts it, sends one line and waits for one, within limits of time and length, and ends it."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, Any, NamedTuple

from optimetry.conformance.harness.ending import ending
from optimetry.conformance.harness.python_harness import BYTES
from optimetry.conformance.harness.starting import started
from optimetry.conformance.harness.wire import quoted, wire
from optimetry.reference.errors import TargetEnded, TargetFault, TargetHung

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]

KEPT = 8192
"""Bytes of standard error that are kept, the last ones."""

BEAT = 0.2
"""Seconds between two signs of life while an answer is awaited."""

LOADING_LIMIT = 300.0
"""Seconds that loading a target may take: frameworks are large, and disks cold."""

PATIENCE = 2.0
"""Seconds that a program, or a worker that has one, may take to end once it has been told to."""

PIPE = 1 << 20
"""Bytes that a pipe should hold, so that no side waits for the other in the middle of a message."""


class _Within(NamedTuple):
    """The time that an answer to a request may take, and when that ends."""

    do: str
    seconds: float
    deadline: float


class ProtocolProgram:
    """A program that answers requests, one line of JSON each; started when it is first asked, and again after a fault.

    Args:
        command: the program and its arguments.
        memory: bytes of memory that each of its processes may hold, None for no limit.
        path: its ``PYTHONPATH``, None for that of this process.

    Attributes:
        beat: called from time to time while an answer is awaited.
        starts: how often it was started.
        linger: seconds that are waited for a second line behind an answer; else it is seen with the next request.
    """

    def __init__(self, command: Sequence[str], *, memory: int | None = None, path: str | None = None) -> None:
        self.command, self.memory, self.path = list(command), memory, path
        self.beat: Callable[[], None] = lambda: None
        self.starts = 0
        self.linger = 0.0
        self._process: subprocess.Popen[bytes] | None = None
        self._errors = bytearray()
        self._unread = bytearray()
        self._size: int | None = None  # of the bytes that are awaited, where it is no line

    @property
    def running(self) -> bool:
        """Whether it has been started, and not ended by us."""
        return self._process is not None

    @property
    def pid(self) -> int | None:
        """The number of its process, None where it is not running."""
        return None if self._process is None else self._process.pid

    @property
    def printed(self) -> str:
        """What it has printed on standard error since the last request, the last of it."""
        return self._errors.decode("utf-8", "replace")

    def start(self) -> None:
        """Start the program in a process group of its own.

        Raises:
            TargetFault: there is no such program, or it cannot be run.
        """
        self._errors, self._unread = bytearray(), bytearray()
        try:
            self._process = started(self.command, self.memory, self.path)
        except OSError as error:
            raise TargetFault(f"cannot start {self.command[0]!r}: {error.strerror}") from error
        self.starts += 1
        for stream in self._streams(self._process):
            os.set_blocking(stream.fileno(), False)
            if hasattr(fcntl, "F_SETPIPE_SZ"):  # Linux
                with suppress(OSError):  # more than this user may have
                    fcntl.fcntl(stream, fcntl.F_SETPIPE_SZ, PIPE)

    def ask(
        self, do: str, request: bytes, seconds: float, longest: int, size: int | None = None
    ) -> tuple[dict[str, Any], bytes]:
        """Send a request and return the answer, with the bytes behind it. A program that does not give one is ended.

        Args:
            do: what is requested, for error texts.
            request: the message: a line, and perhaps bytes behind it.
            seconds: how long the answer may take.
            longest: how many bytes its line may have.
            size: how many bytes may follow a line that says that some do, None where none may.

        Raises:
            TargetHung: it took longer.
            TargetEnded: the program ended or closed its output, or was ended: its answer is no line of JSON, is too
                long, is not the only one, or announces another number of bytes.
            TargetFault: it cannot be started.
        """
        if self._process is None:
            self.start()
        try:
            return self._exchange(do, request, seconds, longest, size)
        except TargetFault as fault:
            self.end()
            fault.output = self.printed
            raise
        except BaseException:  # an alarm or Ctrl-C: the next answer would be that to this request
            self.end()
            raise

    def _exchange(
        self, do: str, request: bytes, seconds: float, longest: int, size: int | None
    ) -> tuple[dict[str, Any], bytes]:
        process, within = self._process, _Within(do, seconds, time.monotonic() + seconds)
        assert process is not None
        self._size = None
        self._read_what_is_there(process)
        if self._unread:
            raise TargetEnded(f"sent a line that nobody asked for before `{do}`: {quoted(self._unread)}")
        if process.poll() is not None:
            raise self._ended(f"before `{do}`")
        self._errors.clear()
        line = self._line(process, request, within, longest)
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError) as error:  # lists in lists without end are the latter
            raise TargetEnded(f"answered `{do}` with a line that is no JSON: {quoted(line)} ({error})") from error
        if not isinstance(answer, dict):
            raise TargetEnded(f"answered `{do}` with {quoted(line)}, must be a JSON object")
        behind = b""
        if size is not None and BYTES in answer:
            self._size = follow = answer[BYTES]
            if type(follow) is not int or not 0 <= follow <= size:
                raise TargetEnded(f"answered `{do}` with {BYTES} = {quoted(repr(follow))}, must be at most {size}")
            self._await(process, b"", within, lambda: len(self._unread) >= follow)
            behind = self._taken(follow)
        if self.linger:
            time.sleep(self.linger)
            self._read_what_is_there(process)
        if self._unread.strip():
            expected = "one line" if self._size is None else f"{self._size} bytes"
            raise TargetEnded(f"answered `{do}` with more than {expected}: then came {quoted(self._unread)}")
        self._unread.clear()
        return answer, behind

    def _line(self, process: subprocess.Popen[bytes], request: bytes, within: _Within, longest: int) -> bytes:
        """Send a request, and return the line that comes."""
        at, searched = -1, 0

        def ended() -> bool:
            nonlocal at, searched
            at = self._unread.find(b"\n", searched)
            searched = len(self._unread)
            return at >= 0 or searched > longest

        self._await(process, request, within, ended)
        if at < 0 or at > longest:
            raise TargetEnded(
                f"answered `{within.do}` with a line of more than {longest} bytes, which is more than any answer to it "
                f"has: {quoted(self._unread)}"
            )
        return self._taken(at + 1)[:-1]

    def _taken(self, size: int) -> bytes:
        """Return the first bytes that are not read yet."""
        taken = bytes(self._unread[:size])
        del self._unread[:size]
        return taken

    def _await(
        self, process: subprocess.Popen[bytes], request: bytes, within: _Within, enough: Callable[[], bool]
    ) -> None:
        """Send a request, and read all that is printed until there is enough on standard output."""
        do, (stdin, stdout, stderr) = within.do, self._streams(process)
        left = self._write(stdin, memoryview(request))
        waiting = select.poll()
        waiting.register(stdout, select.POLLIN)
        waiting.register(stderr, select.POLLIN)
        if left:
            waiting.register(stdin, select.POLLOUT)
        while not enough():
            remaining = within.deadline - time.monotonic()
            if remaining <= 0 and not (self._read_what_is_there(process) and enough()):  # the judge may be held up
                task = "loading it" if do == "hello" else "one run"
                raise TargetHung(f"hung: {task} took longer than {within.seconds:g} s{self._half()}")
            self.beat()
            ready = [descriptor for descriptor, _ in waiting.poll(1000 * max(min(remaining, BEAT), 0))]
            if stdin.fileno() in ready:
                left = self._write(stdin, left)
                if not left:
                    waiting.unregister(stdin)
            if stderr.fileno() in ready and not self._keep(stderr):
                waiting.unregister(stderr)
            if stdout.fileno() in ready:
                piece = _read(stdout)
                if piece == b"":
                    raise self._ended(f"without an answer to `{do}`")
                self._unread += piece or b""
            if not ready and process.poll() is not None and not self._read_what_is_there(process):
                raise self._ended(f"without an answer to `{do}`")

    def _write(self, stdin: IO[bytes], left: memoryview) -> memoryview:
        try:
            return left[os.write(stdin.fileno(), left) :]
        except BlockingIOError:
            return left
        except OSError:  # it has closed its input; the other streams show why
            return left[len(left) :]

    def _keep(self, stderr: IO[bytes]) -> bool:
        """Keep the last that was printed; return whether more may come."""
        piece = _read(stderr)
        if piece:
            self._errors += piece
            del self._errors[:-KEPT]
        return piece != b""

    def _read_what_is_there(self, process: subprocess.Popen[bytes]) -> bool:
        """Read without waiting; return whether there was anything on standard output."""
        _, stdout, stderr = self._streams(process)
        for _ in range(64):  # a flood is cut off
            before = len(self._errors)
            if not self._keep(stderr) or len(self._errors) == before:
                break
        piece = _read(stdout)
        self._unread += piece or b""
        return bool(piece)

    def _ended(self, when: str) -> TargetEnded:
        """Return the fault of a program that has ended, or closed its output."""
        process = self._process
        assert process is not None
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE)
        self._read_what_is_there(process)
        last = self.printed.strip().splitlines()[-1:]
        tail = f"; the last on standard error: {quoted(last[0])}" if last else ""
        how = (
            "closed its standard output" if process.returncode is None else f"its process {ending(process.returncode)}"
        )
        return TargetEnded(f"{how} {when}{self._half()}{tail}")

    def _half(self) -> str:
        """Describe the part of a line, or of the bytes awaited, that has been read."""
        if self._size is not None:
            return f", after {len(self._unread)} of {self._size} bytes"
        return f", after the beginning of a line: {quoted(self._unread)}" if self._unread else ""

    def end(self) -> None:
        """End the program and all processes of its group, whatever they are doing."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
        for _ in range(16):
            if not self._keep(self._streams(process)[2]):
                break
        for stream in self._streams(process):
            with suppress(OSError):
                stream.close()

    def close(self) -> int | None:
        """Say goodbye, and end what has not ended by itself soon after; return its exit status if it has."""
        process, status = self._process, None
        if process is not None:
            with suppress(OSError, ValueError):
                self._write(self._streams(process)[0], memoryview(wire({"do": "bye"})))
                self._streams(process)[0].close()
            with suppress(subprocess.TimeoutExpired):
                status = process.wait(PATIENCE)
        self.end()
        return status

    @staticmethod
    def _streams(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        return process.stdin, process.stdout, process.stderr


def _read(stream: IO[bytes]) -> bytes | None:
    """Read what is there: nothing is None, and the end an empty text."""
    try:
        return os.read(stream.fileno(), 1 << 20)
    except BlockingIOError:
        return None
    except OSError:
        return b""
