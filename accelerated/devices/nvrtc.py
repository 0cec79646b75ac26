"""NVRTC, NVIDIA's compiler of CUDA C++ at run time; it works with no device.

Not through CuPy's ``RawModule``, which compiles everything with ``-ftz=true``: float32 subnormals would become zeros.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import NamedTuple

from optimetry.reference.errors import EngineUnavailableError

OPTIONS = ("--std=c++17", "--ftz=false", "--prec-div=true", "--prec-sqrt=true")
"""IEEE 754 arithmetic: every operation rounded once and to nearest, subnormals kept."""


class Compiled(NamedTuple):
    """The results of one compilation.

    Attributes:
        ptx: the PTX that is assembled.
        machine_code: an ELF file; empty for a virtual architecture (``compute_90``).
    """

    ptx: bytes
    machine_code: bytes


def compiled(text: str, architecture: str, *, fmad: bool) -> Compiled:
    """Compile to PTX for an architecture, and from there to machine code for a real one (``sm_90``).

    Args:
        text: in CUDA C++.
        architecture: the virtual or real one to compile for.
        fmad: whether a product and a sum may be fused, which rounds once.

    Raises:
        EngineUnavailableError: NVRTC is missing, or refuses the program, with the reason.
    """
    library = _library()
    program = ctypes.c_void_p()
    options = [
        option.encode() for option in (*OPTIONS, f"--fmad={str(fmad).lower()}", f"--gpu-architecture={architecture}")
    ]
    _call("nvrtcCreateProgram", ctypes.byref(program), text.encode(), b"optimetry.cu", 0, None, None)
    try:
        option_array = (ctypes.c_char_p * len(options))(*options)
        if library.nvrtcCompileProgram(program, len(options), option_array):
            log = " ".join(_result("ProgramLog", program).rstrip(b"\0").decode(errors="replace").split())
            raise EngineUnavailableError(f"NVRTC does not compile for {architecture}: {log[:300]}")
        return Compiled(_result("PTX", program), _result("CUBIN", program))
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


@cache
def _library() -> ctypes.CDLL:
    try:
        from cuda.pathfinder import load_nvidia_dynamic_lib

        return ctypes.CDLL(load_nvidia_dynamic_lib("nvrtc").abs_path)
    except Exception as error:  # pathfinder has its own errors, and may itself be missing
        why = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise EngineUnavailableError(f"NVRTC cannot be loaded: {why}") from error


def _call(function: str, *arguments: object) -> None:
    status = getattr(_library(), function)(*arguments)
    if status:
        raise EngineUnavailableError(f"NVRTC: {function} returned error {status}")


def _result(kind: str, program: ctypes.c_void_p) -> bytes:
    """Return what ``nvrtcGet<kind>`` gives."""
    size = ctypes.c_size_t()
    _call(f"nvrtcGet{kind}Size", program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    _call(f"nvrtcGet{kind}", program, buffer)
    return buffer.raw
