"""concurrent.futures on a cluster: each call is a job.

    with cede.Executor(select="1:ncpus=4", walltime="01:00:00") as pool:
        print(list(pool.map(simulate, range(100))))

Function, arguments and result travel as pickles in a directory that the hosts of the jobs must share (the default is below the current
one). A function of the program that was started is found there by running that program's file under the name `__cede_main__`, as
multiprocessing does: what must not run twice stands below `if __name__ == "__main__":`.
"""
from __future__ import annotations

import asyncio
import concurrent.futures as cf
import itertools
import os
import pickle
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import aio, errors, submission

# Calls that are given to the server at one time: submission is fast, and a bound keeps a map over a million items in step.
AT_ONCE = 64


class JobFailed(Exception):
    """A job ended without a result: its identifier, its exit status (None: it never ran), and the end of what it wrote to standard error."""

    def __init__(self, job: str, exit_status: int | None, said: str) -> None:
        self.job, self.exit_status, self.said = job, exit_status, said
        super().__init__(f"job {job} ended without a result, exit status {exit_status}" + (f": {said}" if said else ""))


class Executor(cf.Executor):
    """An executor whose calls are jobs. A future that is cancelled before its job has ended deletes the job."""

    def __init__(self, *, server: str | None = None, conf_file: str | Path | None = None, directory: str | Path | None = None,
                 python: str = sys.executable, **options: Any) -> None:
        """directory: where pickles are; options: those of Connection.submit(), for every job."""
        parent = Path(directory) if directory is not None else Path.cwd()
        self._directory = Path(tempfile.mkdtemp(prefix=".cede-", dir=parent))
        self._where, self._python, self._options = (server, conf_file), python, options
        self._numbers, self._open, self._closed = itertools.count(), set[cf.Future[Any]](), False
        self._lock = threading.Lock()
        self._loop = asyncio.new_event_loop()
        self._ready: cf.Future[None] = cf.Future()
        self._thread = threading.Thread(target=self._run, name="cede-executor", daemon=True)
        self._thread.start()
        try:
            self._ready.result()
        except BaseException:
            shutil.rmtree(self._directory, ignore_errors=True)
            raise

    # --- the thread of the loop
    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._main())
        self._loop.close()

    async def _main(self) -> None:
        self._end, self._slots, self._calls = asyncio.Event(), asyncio.Semaphore(AT_ONCE), set[asyncio.Task[None]]()
        try:
            async with aio.connect(self._where[0], conf_file=self._where[1]) as self._pbs:
                self._ready.set_result(None)
                await self._end.wait()
                await asyncio.gather(*self._calls)  # a job that was cancelled still ends, and writes into the directory
        except errors.PbsError as e:
            self._ready.set_exception(e)

    async def _one(self, future: cf.Future[Any], base: Path) -> None:
        try:
            async with self._slots:
                if future.cancelled():
                    return
                options: dict[str, Any] = {"name": "cede-call", **self._options, "env": self._environment()}
                made = submission.build(None, [self._python, "-m", "cede.runner", str(base)], output=f"{base}.log", join=True, **options)
                job = await self._pbs.submit_prepared(made)
            future.add_done_callback(lambda f: self._cancel(f, job.name))
            status = await self._pbs.ended(job)
            if future.set_running_or_notify_cancel():
                self._finish(future, base, job.name, status)
        except Exception as e:  # whatever it is belongs to the caller's future: nothing else would show it
            if not future.done():
                future.set_exception(e)
        finally:
            with self._lock:
                self._open.discard(future)

    def _begin(self, future: cf.Future[Any], base: Path) -> None:
        task = self._loop.create_task(self._one(future, base))
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)

    def _cancel(self, future: cf.Future[Any], job: str) -> None:
        if future.cancelled():
            asyncio.run_coroutine_threadsafe(self._delete(job), self._loop)

    async def _delete(self, job: str) -> None:
        try:
            await self._pbs.delete(job)
        except (errors.UnknownJob, errors.JobHasEnded):
            pass  # it has ended meanwhile

    def _environment(self) -> dict[str, str]:
        own = str(Path(__file__).resolve().parent.parent)
        paths = [own, *[p for p in sys.path if p and p != own]]
        return {**dict(self._options.get("env") or {}), "PYTHONPATH": os.pathsep.join(paths)}

    @staticmethod
    def _finish(future: cf.Future[Any], base: Path, job: str, status: int | None) -> None:
        try:
            ok, value = pickle.loads(base.with_suffix(".out").read_bytes())
        except FileNotFoundError:
            log = Path(f"{base}.log")
            said = log.read_text(errors="replace")[-2000:].strip() if log.exists() else ""
            future.set_exception(JobFailed(job, status, said))
            return
        except Exception as e:
            future.set_exception(e)
            return
        if ok:
            future.set_result(value)
        else:
            future.set_exception(value)

    # --- concurrent.futures.Executor
    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> cf.Future[Any]:
        """Run fn(*args, **kwargs) as a job. The pickle is made now: an argument that cannot be pickled is an error here."""
        call = pickle.dumps((fn, args, kwargs))
        future: cf.Future[Any] = cf.Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("the executor has been shut down")
            self._open.add(future)
        base = self._directory / str(next(self._numbers))
        main = getattr(sys.modules.get("__main__"), "__file__", None)
        base.with_suffix(".in").write_bytes(pickle.dumps((os.path.abspath(main) if main else None, call)))
        self._loop.call_soon_threadsafe(self._begin, future, base)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the executor: no new calls; wait for those under way, or (cancel_futures) delete their jobs."""
        with self._lock:
            self._closed, under_way = True, list(self._open)
        if cancel_futures:
            for future in under_way:
                future.cancel()
        if wait:
            cf.wait(under_way)
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join()
            shutil.rmtree(self._directory, ignore_errors=True)
