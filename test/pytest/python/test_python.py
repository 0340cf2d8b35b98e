"""The packages cede and pbs_ifl, as a user's program has them: each test runs one with pbs_python."""
import json
import os
import shutil
import subprocess
import textwrap

import pytest

from harness import users
from harness.wait import until
from harness.work import exists

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3, "doc", "examples", "python")
pytestmark = [
    pytest.mark.complex(nodes=2, ncpus=4, history=True),
    pytest.mark.skipif("asan" in os.environ.get("CEDE_BUILD", ""), reason="Python itself is not built with the sanitizers"),
]


USER = users.NAMES[0]  # root's own profile is the host's and may do anything


def run(cx, text, *args, user=USER, check=True):
    """What a user's program prints, line by line."""
    path = os.path.join(cx.work, "program.py")
    with open(path, "w", encoding="utf-8") as f:
        f.write("import cede, datetime, sys\nfrom datetime import timedelta\n")
        f.write(textwrap.dedent(text))
    done = cx.command("pbs_python", path, *args, user=user, check=check)
    return done.stdout.splitlines() if check else done


def who():
    """For Popen: the user, where there are others than this one."""
    return {"user": USER, "group": USER, "extra_groups": []} if os.geteuid() == 0 else {}


def example(cx, name, *args):
    return cx.command("pbs_python", shutil.copy(os.path.join(EXAMPLES, name), cx.work), *args, user=USER).stdout


# --- objects and their values
def test_attributes_have_types_of_python(cx):
    cx.qmgr("create resource gpus type=long,flag=hn", "set node n1 resources_available.gpus=3", "set server comment='a, b'")
    out = run(cx, """
        with cede.connect() as pbs:
            job = pbs.submit("sleep 60", walltime="01:30:00", resources={"mem": "1gb", "gpus": 2}, priority=7, depend=None)
            limits = job["Resource_List"]
            print(repr(limits["walltime"]), limits["mem"] == 1 << 30, repr(limits["mem"]), limits["gpus"], limits["ncpus"])
            print(job["Priority"], job["Rerunable"], job["Join_Path"], job["ctime"].tzinfo is not None)
            print(abs(job["ctime"] - datetime.datetime.now().astimezone()) < timedelta(minutes=5))
            print(pbs.node("n1")["resources_available"]["gpus"], pbs.queue("workq").is_open, repr(pbs.server()["comment"]))
    """)
    assert out[0] == "datetime.timedelta(seconds=5400) True Size('1gb') 2 1"
    assert out[1:] == ["7 True n True", "True", "3 True 'a, b'"]


def test_the_package_shows_what_pbs_statjob_returns(cx):
    job = cx.submit("sleep 60", Priority="5")
    cx.wait(job)
    names = run(cx, "import json\nwith cede.connect() as pbs: print(json.dumps(pbs.job(sys.argv[1]).raw))", job, user=None)
    shown, asked = json.loads(names[0]), cx.api.stat("job", job)[0]
    changing = {"mtime", "resources_used", "eligible_time", "etime"}
    assert {k: v for k, v in shown.items() if k not in changing} == {k: v for k, v in asked.items() if k not in changing}


# --- submission
def test_directives_are_read_as_qsub_reads_them(cx):
    script = ("#!/bin/sh\n#PBS -N named -l select=1:ncpus=2,walltime=0:20:00\n#PBS -v A=1,B='x y' -h\n#PBS -W umask=077,sandbox=\"HOME\"\n"
              "true\n#PBS -N too_late\n")
    with open(os.path.join(cx.work, "job.sh"), "w", encoding="ascii") as f:
        f.write(script)
    by_qsub = cx.command("qsub", "job.sh", user=USER).stdout.strip()
    out = run(cx, """
        import pathlib
        with cede.connect() as pbs:
            job = pbs.submit(pathlib.Path("job.sh"))
            print(job)
    """)
    mine, theirs = cx.stat(out[0]), cx.stat(by_qsub)
    for name in ("Job_Name", "Resource_List", "Hold_Types", "umask", "sandbox", "queue", "Rerunable", "Join_Path", "Mail_Points"):
        assert mine.get(name) == theirs.get(name), name
    variables = [dict(v.split("=", 1) for v in j["Variable_List"].split(",") if "=" in v) for j in (mine, theirs)]
    own = {"PBS_O_QUEUE"}
    assert {k: v for k, v in variables[0].items() if k not in own} == {k: v for k, v in variables[1].items() if k not in own}


@pytest.mark.parametrize("line, said", [
    ("#PBS -l", "line 1 of the script: option -l needs a value"),
    ("#PBS -z", "option -z needs a value"),
    ("#PBS hello", "no option: 'hello'"),
    ("#PBS -a 99", "no time: '99'"),
    ("#PBS -l ncpus", "no NAME=VALUE: 'ncpus'"),
    ("#PBS -N 'a", "line 1 of the script: No closing quotation"),
])
def test_a_directive_that_cannot_be_read_is_named_with_its_line(cx, line, said):
    done = run(cx, "with cede.connect() as pbs: pbs.submit(sys.argv[1])", line, check=False)
    assert done.returncode == 1 and "ValueError" in done.stderr and said in done.stderr


def test_arguments_are_stronger_than_directives_and_reach_the_job(cx):
    out = run(cx, r"""
        with cede.connect() as pbs:
            job = pbs.submit("#PBS -N weak -l walltime=1:00\nprintf '%s|' \"$A\" \"$B\" >$PBS_O_WORKDIR/answer; exit 5", name="strong",
                             walltime=timedelta(minutes=3), env={"A": "x,y\\z", "B": "with blanks "})
            print(job.title, job["Resource_List"]["walltime"], job.wait(60))
            print(open("answer").read())
    """)
    assert out == ["strong 0:03:00 5", "x,y\\z|with blanks |"]


def test_a_command_with_arguments_of_any_form_runs(cx):
    out = run(cx, r"""
        with cede.connect() as pbs:
            job = pbs.submit(command=["/usr/bin/printf", "%s|", "a b", "<&>", "q'\""], output="said", join=True)
            print(job.wait(60))
            print(open("said").read())
    """)
    assert out == ["0", "a b|<&>|q'\"|"]


def test_a_job_acts_as_its_methods_say(cx):
    out = run(cx, """
        with cede.connect() as pbs:
            job = pbs.submit("sleep 600", hold=True, rerunable=True)
            print(job.state)
            job.alter(Priority=9, Resource_List={"walltime": timedelta(hours=2)})
            job.release()
            with pbs.watch("job", want=["substate"]) as changes:
                next(c for c in changes if c.name == job.id and c.raw.get("substate") == "42")
            job.refresh()
            print(job.state, job["Priority"], job["Resource_List"]["walltime"], job.script())
            try:
                job.wait(0.05)
            except TimeoutError as e:
                print("TimeoutError", e)
            job.delete()
            print(job.wait(60) is not None, job.is_over())
    """)
    assert out[0] == "H" and out[1] == "R 9 2:00:00 sleep 600"
    assert out[2].startswith("TimeoutError ") and out[2].endswith("is not over after 0.05 s") and out[3] == "True True"


# --- errors
def test_errors_are_classes_with_the_code_of_pbs(cx):
    out = run(cx, """
        def said(what):
            try:
                what()
            except cede.PbsError as e:
                print(type(e).__name__, e.code, e.name, e, [(a.name, a.resource, a.code) for a in e.attributes])
        with cede.connect() as pbs:
            said(lambda: pbs.job("999"))
            said(lambda: pbs.submit("true", queue="none"))
            said(lambda: pbs.submit("true", resources={"nothing": 1}))
            said(lambda: pbs.node("nowhere"))
            job = pbs.submit("true")
            job.wait(60)
            said(lambda: job.hold())
            print({k: type(v).__name__ for k, v in pbs.delete(["998"]).items()})
        said(lambda: pbs.server())
        said(lambda: cede.connect("127.0.0.1:1"))
    """)
    assert out[0].startswith("UnknownJob 15001 PBSE_UNKJOBID Unknown Job Id")
    assert out[1].startswith("UnknownQueue 15018 PBSE_UNKQUE Unknown queue")
    assert out[2].startswith("BadAttribute 15035 PBSE_UNKRESC") and "('Resource_List', 'nothing', 15035)" in out[2]
    assert out[3].startswith("UnknownNode 15062") and out[4].startswith("JobHasEnded 15139")
    assert out[5] == "{'998': 'UnknownJob'}"
    assert "PbsError" in out[6] or "NotConnected" in out[6]
    assert out[7].split()[0] in ("NotConnected", "PbsError")


def test_a_null_byte_is_refused_before_anything_is_sent(cx):
    done = run(cx, r"with cede.connect() as pbs: pbs.submit('true', name='a\0b')", check=False)
    assert done.returncode == 1 and "a null byte in a value" in done.stderr and cx.api.select() == []


@pytest.mark.skipif(os.geteuid() != 0, reason="takes users of several numbers")
def test_the_program_acts_as_the_user_who_runs_it(cx):
    job = cx.submit("sleep 600", user=users.NAMES[0])
    out = run(cx, """
        with cede.connect() as pbs:
            try:
                pbs.job(sys.argv[1]).delete()
            except cede.Unauthorized as e:
                print(e)
            print(pbs.submit("sleep 600", output="/dev/null", join=True).owner)
    """, job, user=users.NAMES[1])
    assert out[0].startswith("Unauthorized Request") and out[1] == users.NAMES[1] and cx.state(job) in "QR"


# --- news, asyncio, executors
def test_a_thousand_jobs_are_waited_for_in_one_thread(cx):
    out = run(cx, """
        import asyncio, threading
        async def main():
            made = cede.prepare(None, ["true"], output="/dev/null", join=True)
            async with cede.aio.connect() as pbs:
                jobs = await asyncio.gather(*[pbs.submit_prepared(made) for _ in range(200)])
                held = [await pbs.submit("true", hold=True) for _ in range(40)]
                waits = [asyncio.ensure_future(pbs.ended(j)) for j in held]
                print(set(await asyncio.gather(*[pbs.ended(j) for j in jobs])), threading.active_count())
                await asyncio.gather(*[pbs.delete(j) for j in held])
                print(set(await asyncio.gather(*waits)))
                try:
                    await pbs.delete("9999")
                except cede.UnknownJob:
                    print("unknown")
        asyncio.run(main())
    """)
    assert out == ["{0} 1", "{None}", "unknown"]


def test_a_job_of_an_ordinary_connection_can_be_awaited(cx):
    out = run(cx, """
        import asyncio
        with cede.connect() as pbs:
            print(asyncio.run(pbs.submit("exit 9").ended()))
    """)
    assert out == ["9"]


def test_a_server_that_is_restarted_meanwhile_is_found_again(cx):
    path = os.path.join(cx.work, "wait.py")
    with open(path, "w", encoding="ascii") as f:
        f.write("import cede\nwith cede.connect() as pbs:\n    j = pbs.submit('while [ ! -e $PBS_O_WORKDIR/go ]; do sleep 0.05; done; exit 6')\n"
                "    open('waits', 'w').close()\n    open('answer.new', 'w').write(str(j.wait(120)))\n")
    with subprocess.Popen(["pbs_python", path], env=cx.env, cwd=cx.work, **who()) as child:
        until(lambda: exists(cx, "waits"), "the program waiting")
        cx.restart("server")
        open(os.path.join(cx.work, "go"), "w", encoding="ascii").close()
        assert child.wait(120) == 0
    with open(os.path.join(cx.work, "answer.new"), encoding="ascii") as f:
        assert f.read() == "6"


POOL = '''
import os, time
def f(x):
    if x == 3:
        raise KeyError("three")
    if x == 4:
        os._exit(5)
    return x * x
if __name__ == "__main__":
    with cede.Executor(walltime=60) as pool:
        for future in [pool.submit(f, i) for i in range(5)]:
            try:
                print(future.result(120))
            except (KeyError, cede.JobFailed) as e:
                print(type(e).__name__, e)
        late = pool.submit(time.sleep, 600)
        with cede.connect() as pbs:
            until = time.monotonic() + 60
            while not (mine := pbs.jobs(Job_Name="cede-call")) and time.monotonic() < until:
                time.sleep(0.02)
            print(len(mine), late.cancel())
            print(mine[0].wait(60) is not None)
        try:
            pool.submit(f, lambda: 0)
        except Exception as e:
            print("cannot be pickled")
    print([n for n in os.listdir(".") if n.startswith(".cede-")])
'''


def test_an_executor_runs_each_call_as_a_job(cx):
    out = run(cx, POOL)
    assert out[:4] == ["0", "1", "4", "KeyError 'three'"]
    assert out[4].startswith("JobFailed job ") and out[4].endswith("ended without a result, exit status 5")
    assert out[5:] == ["1 True", "True", "cannot be pickled", "[]"]


# --- pbs_ifl
def test_pbs_ifl_has_names_and_lists_of_the_c_api(cx):
    job = cx.submit("sleep 600", user=USER)
    out = run(cx, """
        from pbs_ifl import *
        c = pbs_connect(pbs_default())
        print(c >= 0, pbs_statserver(c, None, None).name == pbs_statque(c, "workq").next)
        a = attrl(); a.name = ATTR_state
        b = pbs_statjob(c, sys.argv[1], a, None)
        print(b.name, b.attribs.name, b.attribs.value, b.next)
        pbs_statfree(b)
        criteria = attropl(ATTR_state, None, "R", EQ)
        print(pbs_selectjob(c, criteria) == [sys.argv[1]], ATTR_l, MGR_CMD_SET, MGR_OBJ_QUEUE, PBSE_UNKJOBID)
        print(pbs_deljob(c, "77", None), cvar.pbs_errno, pbs_geterrmsg(c))
        print(pbs_alterjob(c, sys.argv[1], attrl(ATTR_N, None, "other"), None), pbs_statjob(c, sys.argv[1], attrl(ATTR_N)).attribs.value)
        new = attropl(ATTR_N, None, "made", SET, attropl(ATTR_l, "ncpus", "1"))
        open("s.sh", "w").write("exit 0")
        id = pbs_submit(c, new, "s.sh", None, None)
        print(pbs_statjob(c, id).name == id, pbs_deljob(c, id, None))
        print(pbs_manager(c, MGR_CMD_SET, MGR_OBJ_QUEUE, "workq", attropl("Priority", None, "9"), None), pbs_disconnect(c))
    """, job, user=None)
    assert out[0] == "True False" and out[1].startswith(f"{job} job_state ") and out[1].endswith(" None")
    assert out[2] == "True Resource_List 2 1 15001" and out[3].startswith("15001 15001 Unknown Job Id")
    assert out[4:] == ["0 other", "True 0", "0 0"]
    assert cx.api.stat("que", "workq")[0]["Priority"] == "9"


# --- examples of doc/python.md
def test_the_first_example_shows_the_end_of_its_job(cx):
    lines = example(cx, "first.py").splitlines()
    assert lines[1] == "exit status 3" and lines[2] == "it asked for 0:01:00 and ran on n1"


def test_the_example_of_many_jobs_counts_their_ends(cx):
    assert example(cx, "many.py", "30") == "30 jobs, Counter({0: 30})\n"


def test_the_example_of_a_pool_finds_primes(cx):
    assert example(cx, "pool.py", "8") == "[2, 3, 5, 7]\n"


def test_the_example_of_an_urgent_job_names_who_gives_way(cx):
    cx.make_queue("urgent", Priority="200")
    cx.set_sched("preempt_order", "S")
    victim = cx.submit("sleep 600", select="2:ncpus=4")
    until(lambda: cx.stat(victim)["substate"] == "42", "the victim running")
    lines = example(cx, "urgent.py", "urgent", "1:ncpus=4").splitlines()
    assert lines[0].startswith(f"{victim} gives way and is now ") and lines[-1].endswith("is over, 1 gave way")


def test_the_example_that_follows_jobs_ends_with_the_one_it_names(cx):
    with subprocess.Popen(["pbs_python", os.path.join(EXAMPLES, "follow.py"), "named"], env=cx.env, stdout=subprocess.PIPE, text=True, cwd=cx.work,
                          **who()) as child:
        first = cx.submit("sleep 600")
        until(lambda: child.stdout.readline().startswith(first), "the other job")
        job = cx.submit("sleep 0.1", Job_Name="named")
        rest = child.stdout.read()
        assert child.wait() == 0 and rest.splitlines()[-1] == f"{job} is over"
