"""A user whose name cannot be looked up for the moment is told so, and is not taken for a user without a name."""
import os
import subprocess

import pytest

from harness import api, users
from harness.build import PROGRAMS, is_sanitized
from harness.wait import until

ANNA = users.NAMES[0]


@pytest.mark.skipif(not users.available() or is_sanitized(), reason="needs root; the sanitizer wants to be loaded first")
@pytest.mark.complex(nodes=0, sched=False)
def test_a_user_who_cannot_be_looked_up_is_asked_to_try_again(cx, monkeypatch):
    away, library = os.path.join(cx.top, "away"), os.path.join(cx.top, "users_away.so")
    subprocess.run(["gcc", "-std=c11", "-D_GNU_SOURCE", "-shared", "-fPIC", "-Wall", "-Werror", "-o", library,
                    os.path.join(PROGRAMS, "users_away.c")], check=True)
    monkeypatch.setenv("LD_PRELOAD", library)
    monkeypatch.setenv("USERS_AWAY", away)
    cx.restart("server")
    monkeypatch.undo()
    with open(away, "w", encoding="ascii"):
        pass
    script = cx.script("true")
    with users.acting_as(ANNA):
        for _ in range(2):
            c = cx.connect()
            with pytest.raises(api.PbsError) as refused:
                c.submit([], script)
            assert "cannot be looked up" in str(refused.value) and "try again later" in str(refused.value)
            with pytest.raises(api.PbsError):  # the connection has ended: another one asks again
                c.stat("job")
            c.close()
    os.remove(away)

    def submits():
        with users.acting_as(ANNA):
            c = cx.connect()
            try:
                return c.submit([], script)
            except api.PbsError:
                return None
            finally:
                c.close()
    job = until(submits, "a directory that answers again")
    cx.again()
    assert cx.stat(job)["Job_Owner"].startswith(f"{ANNA}@")
