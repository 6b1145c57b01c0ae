# SPDX-License-Identifier: Apache-2.0
"""vllm._C as the process has it, asked by its C function sm10_describe: no import of vllm, which takes seconds."""

from __future__ import annotations

import ctypes
import importlib.util
import json
from pathlib import Path
from typing import Any

_FILE = "_C.abi3.so"


class LibraryError(RuntimeError):
    """The compiled library is not there or is not ours; the text says what to do."""


def path() -> Path:
    """The installed library."""
    spec = importlib.util.find_spec("vllm")
    for folder in (spec.submodule_search_locations if spec else None) or ():
        if (Path(folder) / _FILE).is_file():
            return Path(folder) / _FILE
    raise LibraryError(f"no installed vllm has {_FILE}; install the vllm-sm10 wheel in this Python")


def load(file: Path) -> ctypes.CDLL:
    """Loads it, or finds it loaded; `import torch` must have come first for its ops to be registered."""
    library = ctypes.CDLL(str(file))
    if not hasattr(library, "sm10_describe"):
        raise LibraryError(f"{file} is not of vllm-sm10; install the vllm-sm10 wheel in this Python")
    library.sm10_describe.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
    library.sm10_describe.restype = ctypes.c_size_t
    return library


def describe(library: ctypes.CDLL) -> dict[str, Any]:
    """What the library says of itself and of the calling thread's core."""
    size = library.sm10_describe(None, 0)
    # The thread may be on another hart the next time, with a longer name.
    buffer = ctypes.create_string_buffer(size + 64)
    size = library.sm10_describe(buffer, len(buffer))
    return json.loads(buffer.raw[:size])
