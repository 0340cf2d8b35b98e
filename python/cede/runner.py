"""The program of a job of cede.Executor: python -m cede.runner BASE reads BASE.in, calls, and writes BASE.out whole."""
from __future__ import annotations

import os
import pickle
import runpy
import sys
import types
from pathlib import Path
from typing import Any


def _main_module(path: str) -> None:
    """Make the functions of the caller's program known as those of __main__."""
    module = types.ModuleType("__cede_main__")
    module.__dict__.update(runpy.run_path(path, run_name="__cede_main__"))
    sys.modules["__main__"] = sys.modules["__cede_main__"] = module


def _call(base: Path) -> tuple[bool, Any]:
    path, call = pickle.loads(base.with_suffix(".in").read_bytes())
    try:
        if path and os.path.exists(path):
            _main_module(path)
        fn, args, kwargs = pickle.loads(call)
        return True, fn(*args, **kwargs)
    except Exception as e:
        return False, e


def main() -> None:
    base = Path(sys.argv[1])
    answer = _call(base)
    try:
        text = pickle.dumps(answer)
    except Exception as e:
        text = pickle.dumps((False, TypeError(f"the result cannot be pickled: {e}")))
    draft = base.with_suffix(f".{os.getpid()}")
    draft.write_bytes(text)
    draft.rename(base.with_suffix(".out"))


if __name__ == "__main__":
    main()
