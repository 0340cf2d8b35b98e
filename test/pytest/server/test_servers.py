"""Jobs between servers of two complexes: each is at one of them, whatever is lost, and by its old name it is found."""
import contextlib
import glob
import os
import random
import re
import shutil
import socket
import threading
import time
from concurrent import futures

import pytest

from harness import api, rpc_caller, terminal, users, work
from harness.checkpoints import by_application, count
from harness.exec_peer import Reader, text, u32, u64
from harness.remote import Munged, login_host, port_of
from harness.servers import address, move, rename
from harness.wait import until

UNTIL_GO = "while [ ! -f go ]; do sleep 0.02; done"


class Arrivals:
    """Says by hand at `far` that a job of `near` comes, as near's server would: with its certificate."""

    ARRIVE = 211

    def __init__(self, near, far):
        certs = os.path.join(near.home, "certs")
        self.tls = rpc_caller.connect_tls(port_of(far), rpc_caller.IFL, certs, "peers.crt", "server")

    def say(self, token, owner):
        """The code of the answer, and what the job is called there."""
        script = "true\n"
        job = token + text("workq") + u32(0) + u64(len(script)) + text(script) + text("") + u32(0)
        args = job + text("7.near") + text(owner) + u32(1) + u32(0) * 2
        reply = Reader(rpc_caller.call(self.tls, rpc_caller.IFL, self.ARRIVE, args))
        reply.at = 24
        code, _, errors, _ = reply.i32(), reply.text(), reply.u32(), reply.text()
        assert errors == 0
        return code, reply.text()


def letters(cx, job):
    return [letter for letter, _ in work.accounting(cx, job)]


def test_a_job_moves_with_script_attributes_and_owner_and_runs_there(pair):
    near, far = pair
    job = work.submit(near, "echo $word >> there; exit 3", "goes", options=("-v", "word=hello"), Priority=77)
    move(near, job, far)
    assert near.stat(job) is None
    there = far.api.stat("job", extend="x")[0]
    assert there.name == "0.far" and there["Job_Name"] == "goes" and there["Priority"] == "77"
    assert there["Job_Owner"].split("@")[0] == work.user()
    done = until(lambda: (s := far.stat("0.far", "x")) and s.state == "F" and s, "the end of the job")
    assert done["Exit_status"] == "3" and near.file("there") == "hello\n" and work.starts(near, "goes") == 1
    until(lambda: "M" in letters(near, job), "the record of the move")
    assert "E" not in letters(near, job)


def test_a_server_without_peers_says_which_certificate_it_would_need(pair):
    near, far = pair
    job = work.submit(near, "true", "stays", options=("-h",))
    os.remove(os.path.join(near.home, "certs", "peers.crt"))
    with pytest.raises(api.PbsError) as e:
        move(near, job, far)
    assert "no server of another complex is trusted here" in str(e.value) and "certs/peers.crt" in str(e.value)
    assert near.state(job) == "H"


def test_a_job_takes_along_the_queue_that_it_began_in(pair):
    near, far = pair
    near.make_queue("first")
    job = work.submit(near, "true", "began", options=("-h", "-q", "first"))
    move(near, job, far)
    variables = far.stat("0.far")["Variable_List"].split(",")
    assert [v for v in variables if v.startswith("PBS_O_QUEUE")] == ["PBS_O_QUEUE=first"]


def test_a_job_takes_along_what_it_asked_for_job_wide(pair):
    near, far = pair
    job = work.submit(near, "true", "wide", options=("-h", "-l", "ncpus=2,mem=64mb"))
    move(near, job, far)
    got = far.stat("0.far")["Resource_List"]
    assert (got["ncpus"], got["mem"]) == ("2", "64mb")
    assert sorted(got["select"].split(":")) == ["1", "mem=64mb", "ncpus=2"]


def test_a_moved_job_is_found_by_its_old_name(pair):
    near, far = pair
    job = work.submit(near, "true", "old", options=("-h",))
    move(near, job, far)
    assert near.api.locate(job) == address(far)
    assert far.api.stat("job", job)[0].name == "0.far"
    for cx in pair:
        cx.restart("server")
        cx.again()
    assert near.api.locate(job) == address(far)
    far.api.delete(job)
    assert far.stat("0.far", "x").state == "F"


def test_a_long_script_moves_as_a_whole(pair):
    near, far = pair
    text = "#!/bin/sh\nexit 4\n" + "# a line that nobody needs\n" * 20000
    job = work.submit(near, text, "long")
    near.restart("server")  # so that it comes from the store
    near.again()
    move(near, job, far)
    done = until(lambda: (s := far.stat("0.far", "x")) and s.state == "F" and s, "the end of the job")
    assert done["Exit_status"] == "4"


def refused(near, job, far, queue="workq"):
    with pytest.raises(api.PbsError) as e:
        move(near, job, far, queue)
    assert near.state(job) == "Q" and not far.api.select()
    return e.value


def test_a_job_that_the_other_server_refuses_stays(pair):
    near, far = pair
    job = work.submit(near, "true", "stays")
    assert refused(near, job, far, "nowhere").code == 15018
    far.api.manager(api.MSET, api.SERVER, "", [("flatuid", None, "False")])
    e = refused(near, job, far)
    assert e.code == 15023 and "flatuid is not set" in str(e)
    os.unlink(os.path.join(near.home, "certs", "peers.crt"))
    e = refused(near, job, far)
    assert e.code == 15010 and "peers.crt" in str(e)


def test_a_server_that_is_not_trusted_brings_nothing(pair):
    near, far = pair
    job = work.submit(near, "true", "stranger")
    os.unlink(os.path.join(far.home, "certs", "peers.crt"))
    far.restart("server")
    far.again()
    assert refused(near, job, far).code == 15010


def test_a_server_that_is_away_gets_nothing(pair):
    near, far = pair
    job = work.submit(near, "true", "away")
    far.stop_daemon("server")
    with pytest.raises(api.PbsError) as e:
        move(near, job, far)
    assert e.value.code == 15010 and address(far) in str(e.value) and near.state(job) == "Q"
    near.api.delete(job)


def listener(answer):
    """A port of loopback where something answers with these bytes and hangs up."""
    door = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                with door.accept()[0] as c:
                    c.sendall(answer)
            except OSError:
                return
    threading.Thread(target=serve, daemon=True).start()
    return door


def test_a_refused_move_does_not_tell_what_listens_at_a_port(pair):
    """Else any user scans by the server what its host can reach."""
    near, _ = pair
    job = work.submit(near, "true", "scan")
    doors = [listener(b""), listener(b"SSH-2.0-x\r\n"), listener(b"HTTP/1.1 400 no\r\n\r\n"), listener(b"")]
    ports = [door.getsockname()[1] for door in doors]
    doors[-1].close()
    said = set()
    for port in ports:
        with pytest.raises(api.PbsError) as e:
            near.api.move(job, f"workq@127.0.0.1:{port}")
        said.add((e.value.code, e.value.text.replace(str(port), "PORT")))
    for door in doors:
        door.close()
    [(code, text)] = said
    assert code == 15010 and "no server that trusts this one, and is trusted by it, answers there" in text
    assert near.state(job) == "Q" or near.state(job) == "R"


def test_jobs_go_to_the_servers_that_pbs_conf_names_and_to_no_others(pair):
    near, far = pair
    with open(near.conf, "a", encoding="ascii") as f:
        f.write(f"PBS_PEER_SERVERS=elsewhere,{address(far)}\n")
    near.restart("server")
    near.again()
    job = work.submit(near, "true", "stays")
    with pytest.raises(api.PbsError) as e:
        near.api.move(job, "workq@127.0.0.1:22")
    assert e.value.code == 15007 and "server 127.0.0.1 port 22 is not in PBS_PEER_SERVERS" in e.value.text
    move(near, job, far)
    assert near.api.locate(job) == address(far)


def test_an_array_moves_with_the_indices_that_are_left_and_runs_there(pair):
    near, far = pair
    job = work.submit(near, "echo $PBS_ARRAY_INDEX >> ran; exit $((PBS_ARRAY_INDEX == 7))", "many",
                      options=("-J", "1-9:2%2"))
    near.api.delete(job.replace("[]", "[3]"))
    far.set_server("scheduling", "False")
    move(near, job, far)
    assert near.stat(job) is None and near.api.locate(job) == address(far)
    there = far.stat("0[].far")
    assert there["array_indices_submitted"] == "1-9:2" and there["array_indices_remaining"] == "1,5-9:2"
    assert there["max_run_subjobs"] == "2"
    far.crash_server()
    assert far.stat("0[].far")["array_indices_remaining"] == "1,5-9:2"
    far.set_server("scheduling", "True")
    done = until(lambda: (s := far.stat("0[].far", "x")) and s.state == "F" and s, "the end of the array")
    assert done["Exit_status"] == "1" and sorted(near.file("ran").split()) == ["1", "5", "7", "9"]


def test_a_job_with_checkpoint_images_does_not_move_to_another_server(pair):
    near, far = pair
    by_application(far)
    job = count(far)
    far.api.hold(job, "u")
    far.wait(job, "H")
    with pytest.raises(api.PbsError) as e:
        move(far, job, near)
    assert e.value.code == 15029 and "its images are here" in str(e.value) and "qsub -q QUEUE@SERVER" in str(e.value)
    assert far.state(job) == "H" and not near.api.select()


def test_an_array_that_has_begun_stays(pair):
    near, far = pair
    job = work.submit(far, UNTIL_GO, "begun", options=("-J", "1-3"))
    far.wait(job, "B")
    with pytest.raises(api.PbsError) as e:
        move(far, job, near)
    assert e.value.code == 15016 and "has begun" in str(e.value)
    far.api.delete(job)


def test_an_interactive_job_moves_and_comes_to_the_terminal_where_its_qsub_waits(pair):
    near, far = pair
    rename(near, "localhost")  # the job's host looks for that of its qsub
    with contextlib.closing(terminal.Terminal(near)) as t:
        job = t.expect(r"waiting for job (\S+) to start").group(1)
        move(near, job, far)
        t.expect(f"qsub: job {re.escape(job)} ready")
        t.type("echo $PBS_JOBID:$PBS_ENVIRONMENT; exit 3\n")
        t.expect(r"0\.far:PBS_INTERACTIVE")
        t.expect(f"qsub: job {re.escape(job)} completed")
    done = until(lambda: (s := far.stat("0.far", "x")) and s.state == "F" and s, "the end of the job")
    assert done["Exit_status"] == "3" and "interactive_key" not in done


def names(cx):
    return [j["Job_Name"] for j in cx.again().stat("job")]


@pytest.mark.parametrize("seed", [1, 2])
def test_every_job_is_at_one_server_whichever_is_killed(pair, seed):
    near, far = pair
    chance = random.Random(seed)
    jobs = [work.submit(near, "true", f"k{i}", options=("-h",)) for i in range(30)]
    left = list(jobs)

    def move_all():
        while left:
            job = left[-1]
            try:
                with contextlib.closing(near.connect()) as c:
                    c.move(job, f"workq@{address(far)}")
                left.pop()
            except api.PbsError as e:
                if e.code == 15001:  # it had gone, and the answer was lost
                    left.pop()
    threads = [threading.Thread(target=move_all, daemon=True)]
    for t in threads:
        t.start()
    for victim in (far, near, far):
        time.sleep(chance.uniform(0.02, 0.2))  # the moment is the input of this test
        victim.kill("server")
        victim.restart("server")
    for t in threads:
        t.join(120)
    emptied(near)
    assert sorted(names(far)) == sorted(f"k{i}" for i in range(30))


def test_a_server_that_takes_nothing_more_still_says_what_it_has_taken(pair):
    """Who asks again after a lost answer takes a refusal for the job's stay, and would run it a second time."""
    near, far = pair
    owner = f"{(users.available() or (users.me(),))[0]}@near"
    keeps_it_up = far.submit("sleep 600")
    far.wait(keeps_it_up, "R")
    peer = Arrivals(near, far)
    code, job = peer.say(b"1" * 16, owner)
    assert code == 0 and job
    far.api.terminate(1)  # when the running job has ended
    assert peer.say(b"2" * 16, owner)[0] == 15060
    assert peer.say(b"1" * 16, owner) == (0, job)


def route(near, destinations, **attrs):
    near.make_queue("feed", queue_type="Route", route_destinations=destinations, route_retry_time="1", **attrs)


def arrives(far, count=1):
    """The jobs there, once they are so many."""
    return until(lambda: (j := far.again().stat("job", extend="x")) and len(j) == count and j,
                 lambda: f"{count} jobs; there are {names(far)}")


def emptied(near):
    until(lambda: not names(near), lambda: f"an empty server; there are {names(near)}")


def stays(near, job, because):
    """Its route queue has been told so, and has kept it."""
    until(lambda: f"{job};not routed to" in (log := near.log("server")) and because in log, because)
    until(lambda: near.state(job) == "Q", "the job as it was")
    assert near.stat(job)["queue"] == "feed"


def test_a_route_queue_sends_a_job_to_another_server_where_it_runs(pair):
    near, far = pair
    route(near, f"workq@{address(far)}")
    near.set_queue("feed", "resources_default", "00:10:00", "walltime")
    job = work.submit(near, "exit 3", "routed", queue="feed")
    done = until(lambda: (s := far.stat("0.far", "x")) and s.state == "F" and s, "the end of the job")
    assert done["Exit_status"] == "3" and work.starts(near, "routed") == 1
    assert "walltime" not in done["Resource_List"]
    until(lambda: "M" in letters(near, job), "the record of the move")
    emptied(near)
    assert near.api.locate(job) == address(far)


def test_a_route_queue_keeps_held_jobs_from_another_server_until_they_may_go(pair):
    near, far = pair
    route(near, f"workq@{address(far)}")
    held = work.submit(near, "true", "held", queue="feed", options=("-h",))
    work.submit(near, "true", "free", queue="feed")
    assert arrives(far)[0]["Job_Name"] == "free" and near.state(held) == "H"
    near.set_queue("feed", "route_held_jobs", "True")
    there = {j["Job_Name"]: j for j in arrives(far, 2)}
    assert there["held"].state == "H"
    emptied(near)


def test_a_job_that_another_server_refuses_goes_to_the_next_destination(pair):
    near, far = pair
    route(near, f"nowhere@{address(far)},missing@{address(far)},workq")
    job = work.submit(near, "true", "next", queue="feed")
    until(lambda: near.stat(job)["queue"] == "workq", "the job in workq")
    assert near.state(job) == "Q" and not names(far)
    near.set_queue("feed", "route_destinations", f"nowhere@{address(far)}")
    lost = work.submit(near, "true", "lost", queue="feed")
    near.wait_gone(lost)
    near.wait_log("server", f"{lost};(job_route) Job rejected by all possible destinations")


def test_an_array_is_routed_to_another_server_that_takes_so_many(pair):
    near, far = pair
    far.set_server("max_array_size", "3")
    route(near, f"workq@{address(far)},workq")
    work.submit(near, "true", "three", queue="feed", options=("-J", "1-3"))
    assert arrives(far)[0]["Job_Name"] == "three"
    large = work.submit(near, "true", "four", queue="feed", options=("-J", "1-4"))
    until(lambda: near.stat(large)["queue"] == "workq", "the larger one here")


def test_a_routed_job_waits_for_a_server_that_is_away_and_for_its_queue(pair):
    near, far = pair
    far.set_queue("workq", "enabled", "False")
    route(near, f"nowhere@{address(far)},workq@{address(far)}")
    job = work.submit(near, "true", "patient", queue="feed", options=("-p", "7"))
    stays(near, job, "Queue is not enabled: workq")
    far.stop_daemon("server")
    stays(near, job, "cannot be asked")
    far.restart("server")
    far.again()
    far.set_queue("workq", "enabled", "True")
    assert arrives(far)[0]["Job_Name"] == "patient"
    emptied(near)


def test_more_jobs_than_move_at_once_all_arrive_once_though_servers_are_killed(pair):
    near, far = pair
    route(near, f"workq@{address(far)}", route_held_jobs="True", started="False")
    wanted = [f"r{i}" for i in range(60)]
    for name in wanted:
        work.submit(near, "true", name, queue="feed", options=("-h",))
    near.command("qstart", "feed")
    for victim in (far, near):
        before = len(names(near))
        until(lambda: len(names(near)) < before or not names(near), "a job that has gone")
        victim.kill("server")
        victim.restart("server")
        victim.again()
    emptied(near)
    assert sorted(names(far)) == sorted(wanted)


@pytest.fixture
def login(pair):
    """The environment on a host where users of both complexes log in."""
    near, far = pair
    m = Munged(near.top, "munge")
    for cx in pair:
        with open(cx.conf, "a", encoding="ascii") as f:
            f.write(f"PBS_MUNGE_SOCKET={m.socket}\n")
        cx.restart("server")
        cx.again()
    env = login_host(near, "login", m.socket)
    shutil.copy(os.path.join(far.home, "certs", "ca.crt"), os.path.join(near.top, "login", "certs", "peers.crt"))
    yield env
    m.stop()


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("munged"), reason="needs root and munged")
def test_an_ordinary_user_submits_to_another_server_and_alters_a_routed_job_there(pair, login):
    near, far = pair
    user = users.NAMES[0]
    done = near.command("qsub", "-h", "-q", f"workq@{address(far)}", near.script("true"), user=user, env=login)
    assert done.stdout == "0.far\n" and far.state("0.far") == "H" and not names(near)
    route(near, f"workq@{address(far)}", route_held_jobs="True")
    job = near.command("qsub", "-h", "-q", "feed", near.script("true"), user=user, env=login).stdout.strip()
    emptied(near)
    near.command("qalter", "-p", "9", job, user=user, env=login)
    assert far.stat("1.far")["Priority"] == "9"


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("munged"), reason="needs root and munged")
def test_a_qsub_that_waits_follows_its_job_to_another_server(pair, login):
    near, far = pair
    with futures.ThreadPoolExecutor(1) as pool:
        qsub = pool.submit(near.command, "qsub", "-h", "-W", "block=true", "-o", "/dev/null", "-j", "oe", near.script("exit 5"),
                           user=users.NAMES[0], env=login, check=False)
        job = until(near.api.select, "the job")[0]
        move(near, job, far)
        assert far.stat("0.far")["block"] != "0" and not qsub.done()
        far.api.release("0.far")
        done = qsub.result(120)
    assert (done.returncode, done.stdout, done.stderr) == (5, f"{job}\n", "")


def test_a_waiter_that_the_new_server_does_not_let_in_is_told_so(pair):
    near, far = pair
    job = work.submit(near, "exit 0", "away", options=("-h",))
    move(near, job, far)
    done = near.command("qwait", job, check=False)
    assert done.returncode != 0 and f"job {job} has moved to {address(far)}, which cannot be asked for it" in done.stderr


def test_an_identifier_that_no_server_knows_is_unknown(pair):
    near, far = pair
    with pytest.raises(api.PbsError) as e:
        far.api.stat("job", "99.near")
    assert e.value.code == 15001
    with pytest.raises(api.PbsError) as e:
        near.api.locate("99.near")
    assert e.value.code == 15001
    assert glob.glob(os.path.join(near.home, "server_logs", "*"))


ASKS = "Type 19 request received"  # StatusJob


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("munged"), reason="needs root and munged")
def test_an_interactive_job_that_has_moved_ends_when_its_user_leaves(pair, login):
    near, far = pair
    far.set_server("scheduling", "False")
    with contextlib.closing(terminal.Terminal(near, env=login)) as t:
        job = t.expect(r"waiting for job (\S+) to start").group(1)
        move(near, job, far)
        asked = far.log("server").count(ASKS)
        until(lambda: far.log("server").count(ASKS) > asked, "qsub to look for its job there")
        assert t.process.poll() is None
        t.type("\x03")
        t.expect("Do you wish to terminate")
        t.type("y\n")
        t.expect(f"Job {re.escape(job)} is being deleted")
    until(lambda: (s := far.stat("0.far", "x")) is None or s.state == "F", "its end at the other server")


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("munged"), reason="needs root and munged")
def test_an_interactive_job_that_has_moved_and_is_deleted_is_said(pair, login):
    near, far = pair
    far.set_server("scheduling", "False")
    with contextlib.closing(terminal.Terminal(near, env=login)) as t:
        job = t.expect(r"waiting for job (\S+) to start").group(1)
        move(near, job, far)
        far.api.delete("0.far")
        t.expect(f"qsub: job {re.escape(job)} apparently deleted")
