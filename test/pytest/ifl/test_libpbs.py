"""libpbs as its users meet it: linked into their programs, over lost connections, in threads."""
import ctypes
import os
import pathlib
import re
import signal
import subprocess
import threading

import pytest

from harness import api, build
from harness.wait import until

INCLUDE = os.path.join(os.path.dirname(__file__), "..", "..", "..", "ifl", "include")

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <pbs_error.h>
#include <pbs_ifl.h>

int main(void)
{
    struct batch_status *b;
    struct attropl out = {NULL, ATTR_o, NULL, "/dev/null", SET}, err = {&out, ATTR_e, NULL, "/dev/null", SET};
    int c = pbs_connect(NULL);
    char *job;

    if (c <= 0) {
        fprintf(stderr, "cannot connect to %s: %d\n", pbs_default(), pbs_errno);
        return 1;
    }
    job = pbs_submit(c, &err, NULL, NULL, NULL);
    if (!job) {
        fprintf(stderr, "%s\n", pbs_geterrmsg(c));
        return 1;
    }
    b = pbs_statjob(c, job, NULL, NULL);
    printf("%s %s\n", job, b ? b->name : "none");
    pbs_statfree(b);
    free(job);
    return pbs_disconnect(c);
}
"""


MOCKING = r"""
#include <stdio.h>
#include <string.h>
#include <pbs_ifl.h>

static struct batch_status *mine(int c, const char *id, struct attrl *out, const char *extend)
{
    static char name[] = "mocked";
    static struct batch_status answer = {NULL, name, NULL, NULL};

    return id && !strcmp(id, "mock") ? &answer : __pbs_statjob(c, id, out, extend);
}

int main(void)
{
    int c = pbs_connect(NULL);
    struct batch_status *b;

    pfn_pbs_statjob = mine;
    printf("%s", pbs_statjob(c, "mock", NULL, NULL)->name);
    b = pbs_statjob(c, "999", NULL, NULL);
    printf(" %d %d\n", b == NULL, pbs_errno);
    return pbs_disconnect(c);
}
"""

plain = pytest.mark.skipif(build.is_sanitized(), reason="a plain program cannot link a sanitized library")
linked = pytest.mark.parametrize("how", ["shared", "static"])


def linked_program(directory, text, how):
    """A stranger's program of this text, linked to the library."""
    source, out = directory / "program.c", directory / "program"
    source.write_text(text)
    lib = os.path.join(os.environ["CEDE_BUILD"], "lib")
    link = [f"-L{lib}", "-lpbs", f"-Wl,-rpath,{lib}"] if how == "shared" else \
        [os.path.join(lib, "libpbs.a"), "-ltirpc", "-lpthread", "-ldl"]
    subprocess.run(["gcc", "-I", INCLUDE, "-o", out, source, *link], check=True)
    return out


@plain
@linked
def test_a_strangers_program_compiles_links_and_runs(quiet, tmp_path, how):
    job, name = quiet.command(linked_program(tmp_path, PROGRAM, how)).stdout.split()
    assert job == name and quiet.state(job) == "Q"


@plain
@linked
def test_a_call_can_be_replaced_and_its_default_still_be_called(quiet, tmp_path, how):
    assert quiet.command(linked_program(tmp_path, MOCKING, how)).stdout == "mocked 1 15001\n"


def exported():
    """{name: version, or None}, and the versions themselves."""
    names = subprocess.run(["nm", "-D", "--defined-only", os.environ["CEDE_LIBPBS"]], capture_output=True,
                           text=True, check=True).stdout.split()[2::3]
    return {name.partition("@@")[0]: name.partition("@@")[2] or None for name in names}


def calls_of(header):
    text = re.sub(r"/\*.*?\*/", "", pathlib.Path(INCLUDE, header).read_text(encoding="utf-8"), flags=re.S)
    return set(re.findall(r"\b(\w+)\(", re.sub(r"typedef[^;]*;|#define.*", "", text)))


def test_calls_of_our_own_have_a_version_and_those_of_pbs_have_none():
    versions, ours = exported(), calls_of("pbs_ext.h") - {"pbs_submit_with_cred"}
    assert {n: v for n, v in versions.items() if n in ours and v != "CEDE_0.1"} == {}
    assert {n: v for n, v in versions.items() if n not in ours and v} == {}
    assert ours - set(versions) == set()
    assert {"pbs_submit", "pbs_statjob", "__pbs_statjob", "tm_init", "openrm"} <= set(versions) - ours


def test_only_the_public_names_are_exported():
    names = [n for n in exported() if not n.startswith("CEDE_")]
    assert len(names) > 80
    monitor = {"openrm", "closerm", "downrm", "configrm", "addreq", "allreq", "getreq", "flushreq", "activereq", "fullresp"}
    assert [n for n in names if not n.startswith(("pbs_", "__pbs_", "pfn_pbs_", "tm_")) and n not in monitor] == []
    assert monitor <= set(names)
    headers = "".join(h.read_text(encoding="utf-8") for h in pathlib.Path(INCLUDE).glob("*.h"))
    assert [n for n in names if n.startswith(("pbs_", "tm_")) and not re.search(rf"\b{n}\b", headers)] == []


def test_versions_and_package_name_the_symbols_that_the_library_exports():
    """The linker takes a name of libpbs.map that no file defines, and dpkg-gensymbols adds a new one to its copy only."""
    top = pathlib.Path(INCLUDE, "..", "..")
    nodes = dict(re.findall(r"^(CEDE_\S+) \{\s+global:\s+([^:}]*?)\s*(?:\w+:[^}]*)?\}", re.sub(r"/\*.*?\*/", "", (top / "ifl/lib/libpbs.map").read_text(), flags=re.S), re.M))
    versions = {name: version for name, version in exported().items() if name not in nodes}
    assert {name: node for node, names in nodes.items() for name in names.replace(";", "").split()} == {n: v for n, v in versions.items() if v}
    head, *rows = (top / "packaging/debian/libpbs0.symbols").read_text().splitlines()
    listed = [row.split()[0].partition("@")[::2] for row in rows]
    assert head.split()[:2] == ["libpbs.so.0", "libpbs0"] and len(listed) == len(set(listed))
    assert dict(listed) == {n: v or "Base" for n, v in versions.items()} | {node: node for node in nodes}


@pytest.mark.complex(nodes=0)
def test_a_submission_outlives_the_server_and_happens_once(cx):
    """The server is killed with the request in its hands; the same token is sent to its successor."""
    c, result = cx.connect(), []
    pid = cx.pid("server")
    os.kill(pid, signal.SIGSTOP)
    script = cx.script("true")
    items = [("Job_Name", None, "once"), ("Output_Path", None, "/dev/null"), ("Error_Path", None, "/dev/null")]
    thread = threading.Thread(target=lambda: result.append(c.submit(items, script)))
    thread.start()
    os.kill(pid, signal.SIGKILL)
    cx.restart("server")
    thread.join(120)
    assert not thread.is_alive()
    cx.again()
    assert cx.api.select([("Job_Name", None, "once", api.EQ)]) == result
    assert c.stat("job", result[0])
    c.close()


@pytest.mark.complex(nodes=0)
def test_a_lost_connection_is_said_and_ends_every_call(cx):
    c = cx.connect()
    watch = c.watch({2: None})
    watch.catch_up()
    ticket = watch.send()
    assert not c.ready(ticket)
    cx.kill("server")
    until(lambda: c.ready(ticket), "the end of the call")
    with pytest.raises(api.PbsError) as e:
        watch.recv(ticket)
    assert e.value.code == 15031
    with pytest.raises(api.PbsError):
        c.stat("server")
    c.close()


def test_threads_share_one_connection_and_keep_their_own_errors(quiet):
    c, wrong = quiet.connect(), []
    job = quiet.submit()

    def look(i):
        for _ in range(50):
            if i % 2:
                if c.stat("job", job)[0].name != job:
                    wrong.append("another job")
                continue
            try:
                c.stat("job", f"{900000 + i}")
                wrong.append("a job that is not there")
            except api.PbsError as e:
                if e.code != 15001:
                    wrong.append(str(e))

    threads = [threading.Thread(target=look, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(120)
    assert wrong == []
    c.close()


def test_a_parked_call_leaves_the_connection_free(quiet):
    c = quiet.connect()
    watch = c.watch({2: ["Job_Name"]})
    watch.catch_up()
    ticket = watch.send()
    assert c.stat("server") and not c.ready(ticket)
    job = quiet.submit(Job_Name="parked")
    watch.recv(ticket)
    assert watch.objects[(2, job)] == {"Job_Name": "parked"}
    c.close()


def test_a_dropped_call_is_carried_out_without_its_answer(quiet):
    job = quiet.submit()
    ticket = quiet.api.call_send("holdjob_send", job, "u", None)
    quiet.api.drop(ticket)
    until(lambda: quiet.state(job) == "H", "the hold")
    with pytest.raises(api.PbsError):
        quiet.api.recv(ticket)


def test_hosts_are_made_of_vnodes(shared):
    hosts = {h.name: h for h in shared.api.stat("host")}
    assert set(hosts) == {"n1", "n2"} or sum(int(h["resources_available"]["ncpus"]) for h in hosts.values()) == 8
    with pytest.raises(api.PbsError) as e:
        shared.api.stat("host", "nowhere")
    assert e.value.code == 15062


def test_a_call_that_is_not_implemented_says_so(quiet):
    lib = api.lib()
    assert lib.pbs_stagein(quiet.api.c, b"1", None, None) == 15029
    assert b"not supported" in lib.pbs_geterrmsg(quiet.api.c)


@pytest.mark.parametrize("kind,name,want", [("job", None, "nosuch"), ("que", "workq", "nosuch"), ("vnode", None, "nosuch"),
                                            ("server", None, "nosuch"), ("job", None, ("Resource_List", "nosuch"))])
def test_a_status_names_the_attribute_that_it_does_not_know(shared, kind, name, want):
    pair = (want, None) if isinstance(want, str) else want
    with pytest.raises(api.PbsError) as e:
        shared.api.stat(kind, name, want=["comment" if kind != "que" else "enabled", want])
    assert e.value.code == (15002 if pair[1] is None else 15035)
    assert [a[:3] for a in e.value.attributes] == [(*pair, e.value.code)]


def test_of_several_names_the_known_ones_are_shown_and_the_unknown_one_is_named(quiet):
    job, lib = quiet.submit(), api.lib()
    answer = lib.pbs_statjob(quiet.api.c, f"{job},888888".encode(), None, None)
    assert api.text_of(answer.contents.name) == job and not answer.contents.next
    assert quiet.api.errno() == 1 and lib.pbs_geterrmsg(quiet.api.c) == b"Unknown Job Id 888888"
    lib.pbs_statfree(answer)


def test_a_list_with_a_null_pointer_deletes_nothing(quiet):
    job, lib, c = quiet.submit(), api.lib(), quiet.api.c
    for names in ((ctypes.c_char_p * 2)(job.encode(), None), None):
        assert not lib.pbs_deljoblist(c, names, 2, None)
        assert quiet.api.errno() == 15004
    assert quiet.state(job)
    assert not lib.pbs_deljoblist(c, None, 0, None) and quiet.api.errno() == 0


def test_pbs_disconnect_reports_a_wrong_connection_and_otherwise_leaves_the_error_number(quiet):
    c, lib = quiet.connect(), api.lib()
    with pytest.raises(api.PbsError):
        c.stat("job", "888888")
    assert lib.pbs_disconnect(c.c) == 0 and c.errno() == 15001
    for handle in (c.c, 0, -1, 2**31 - 1):
        assert lib.pbs_disconnect(handle) == -1 and c.errno() == 15033
