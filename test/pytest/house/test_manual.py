"""The manual says what the programs and tables say: options, attributes, resources, keys, and what is refused."""
import os
import pathlib
import re
import subprocess

import pytest

from harness.walks import walks

TOP = pathlib.Path(__file__).resolve().parents[3]
HAND = TOP / "doc" / "man"
BUILD = pathlib.Path(os.environ["CEDE_BUILD"])
MADE = BUILD / "share" / "man"
COMMANDS = sorted(p.name for p in (BUILD / "bin").iterdir())
DAEMONS = {
    "pbs_server": "server/server_settings.c",
    "pbs_sched": "sched/main.c",
    "pbsfs": "sched/pbsfs.c",
    "pbs_mom": "mom/mom/command_line.c",
    "pbs_comm": "site/pbs_comm.c",
    "pbs_store": "server/admin/pbs_store.c",
    "pbs_keys": "server/admin/pbs_keys.c",
    "pbs_web": "web/pbs_web.c",
}
TABLES = {
    "pbs_job_attributes.7": "attr_job.def",
    "pbs_queue_attributes.7": "attr_queue.def",
    "pbs_server_attributes.7": "attr_server.def",
    "pbs_node_attributes.7": "attr_node.def",
    "pbs_sched_attributes.7": "attr_sched.def",
}


def all_pages():
    return sorted(p for folder in (HAND, MADE) for p in folder.rglob("*.[13578]"))


def page(name):
    """The source of a page, one that only points to another followed."""
    text = (HAND / name).read_text(encoding="utf-8")
    other = re.match(r"\.so man\d/(\S+)", text)
    return page(other[1]) if other else text


def options_of_page(text):
    """From ".It Fl x Ar value" and ".It Fl d , -home Ar dir": {"-x", "-d", "--home"}; what --version is, all know."""
    found = set()
    for line in re.findall(r"^\.It (Fl .*)$", text, re.M):
        for spelled in re.match(r"Fl (\S+(?: , -\S+)?)", line)[1].split(" , "):
            found.add("-" + spelled)
    return found - {"--version"}


def options_of_command(name):
    """From --help: a row begins with two blanks and its option."""
    out = subprocess.run([BUILD / "bin" / name, "--help"], stdout=subprocess.PIPE, check=True, text=True).stdout
    return {m for m in re.findall(r"^  (--?[\w-]+)", out, re.M)}


def options_of_source(path):
    """The rows of a daemon: {'d', "home", OPTION_VALUE, ...}."""
    found = set()
    for letter, name in re.findall(r"\{(0|'.'), (NULL|\"[^\"]+\"),\s*OPTION_", (TOP / path).read_text(encoding="utf-8")):
        if letter != "0":
            found.add("-" + letter[1])
        if name != "NULL":
            found.add("--" + name.strip('"'))
    return found - {"--version"}


def rows(path, macro):
    return re.findall(rf"^{macro}\((\w+)", (TOP / path).read_text(encoding="utf-8"), re.M)


def terms(name):
    """The terms of the lists of a page that was made."""
    section = name.rsplit(".", 1)[1]
    text = (MADE / f"man{section}" / name).read_text(encoding="utf-8")
    return re.findall(r"^\.It Sy \\&(\S+)", text, re.M)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_usage_names_each_form_once(name):
    done = subprocess.run([BUILD / "bin" / name, "--no-such-option"], stdin=subprocess.DEVNULL, capture_output=True,
                          check=False, text=True)
    lines = [line.split() for line in done.stderr.splitlines() if line.strip()]
    assert all(lines.count(line) == 1 for line in lines), done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_a_page_with_its_options_and_no_others(name):
    assert options_of_page(page(f"{name}.1")) == options_of_command(name)


@pytest.mark.parametrize("name", DAEMONS)
def test_a_daemon_has_a_page_with_its_options_and_no_others(name):
    rows_of_it = options_of_source(DAEMONS[name])
    assert rows_of_it and options_of_page(page(f"{name}.8")) == rows_of_it


def test_the_module_of_pam_has_a_page_with_its_options_and_no_others():
    words = re.findall(r'^    \{"(\w+)=?", offsetof', (TOP / "mom" / "pam" / "pam_options.c").read_text(encoding="utf-8"), re.M)
    assert words and sorted(words) == sorted(re.findall(r"^\.It Cm (\w+)", page("pam_pbs.8"), re.M))


@pytest.mark.parametrize("name", TABLES)
def test_every_attribute_is_in_the_page_of_its_kind(name):
    attributes = rows(f"ifl/def/{TABLES[name]}", "ATTR")
    assert attributes and terms(name)[: len(attributes)] == attributes


def test_every_resource_and_its_attributes_are_in_their_page():
    expected = rows("ifl/def/resource.def", "RESOURCE") + rows("ifl/def/attr_resource.def", "ATTR")
    assert terms("pbs_resources.7") == expected


def test_every_key_of_pbs_conf_is_in_its_page():
    assert terms("pbs.conf.5") == rows("ifl/spec/conf.def", "CONF")


def test_every_option_of_the_scheduler_is_in_its_page():
    assert sorted(terms("pbs_sched_config.5")) == sorted(rows("sched/sched_config.def", "OPTION"))


def test_every_directive_of_the_mom_is_in_its_page():
    """$configversion begins a file of another kind, and is an error in this one."""
    expected = {f"${name}" for name in rows("mom/mom/node/mom_config.def", "CONFIG")} - {"$configversion"}
    assert set(terms("pbs_mom_config.5")) == expected


FILES_OF_A_SITE = {
    "pbs.conf": "pbs.conf.5",
    "pbs_environment": "pbs_environment.7",
    "sched_priv/sched_config": "pbs_sched_config.5",
    "sched_priv/resource_group": "pbs_resource_group.5",
    "sched_priv/holidays": "pbs_holidays.5",
    "sched_priv/dedicated_time": "pbs_dedicated_time.5",
    "mom_priv/config": "pbs_mom_config.5",
    "mom_priv/config.d": "pbs_vnodes.5",
    "server_priv/resourcedef": "pbs_resourcedef.5",
    "server_priv/accounting": "pbs_accounting.5",
}


@pytest.mark.parametrize("name", FILES_OF_A_SITE)
def test_a_file_that_a_site_writes_or_reads_has_a_page_that_names_it(name):
    page_of_it = FILES_OF_A_SITE[name]
    text = (MADE / f"man{page_of_it[-1]}" / page_of_it).read_text(encoding="utf-8").replace("\\-", "-")
    assert name in text


def test_each_file_that_is_installed_for_a_site_has_a_page():
    shipped = {p.name for p in (BUILD / "etc").iterdir()} - {"pbs_completion.bash", "pbs.sh", "pbs.csh"}
    apart = {"pbs_dedicated": "pbs_dedicated_time.5", "pbs_resources": "pbs_resources.7"}
    assert shipped and {name for name in shipped
                        if not list(MADE.glob(f"man?/{apart.get(name, name + '.5')}"))} == set()


@pytest.mark.parametrize("name", sorted(p.name for p in (BUILD / "sbin").iterdir()))
def test_a_program_of_the_administrator_has_a_page(name):
    assert (MADE / "man8" / f"{name}.8").is_file()


def test_every_variable_of_a_job_is_in_its_page():
    source = "".join((TOP / p).read_text(encoding="utf-8") for p in ("mom/mom/start/job_env.c", "cmds/job/qsub_env.c"))
    variables = set(re.findall(r'"(PBS_[A-Z_]+)"', source)) - {"PBS_O_"} | set(re.findall(r'\{"([A-Z]+)", f->', source))
    text = page("pbs_environment.7")
    assert len(variables) > 30 and [v for v in sorted(variables) if not re.search(rf"\b{v}\b", text)] == []


def test_every_letter_of_the_accounting_log_is_in_its_page():
    """Letters between quotes where records are made: jobs' and reservations'."""
    places = ["server/publish/accounting.c", "server/resv/resv_life.c", "server/resv/resv_submit.c"]
    letters = {letter for p in places for line in (TOP / p).read_text(encoding="utf-8").splitlines()
               if re.search(r"\b(accounting_begin|plain|ended|ended_run|phase|reservations_record)\(", line)
               for letter in re.findall(r"'([A-Za-z])'", line)}
    listed = {x for line in re.findall(r"^\.It Cm (.*)$", page("pbs_accounting.5"), re.M) for x in re.findall(r"\w", line)}
    listed |= set(re.findall(r"^\.Cm (\w)$", page("pbs_accounting.5"), re.M))
    assert len(letters) > 12 and letters - listed == set()


def test_every_call_has_a_page():
    apart = re.compile(r"_fn$|^__")
    declared = {name for header in ("pbs_ifl.h", "pbs_ext.h", "tm.h", "rm.h")
                for name in re.findall(r"^(?:extern )?[\w ]+[ *](\w+)\(", (TOP / "ifl/include" / header).read_text(), re.M)}
    assert "pbs_submit" in declared and "pbs_watch_next" in declared
    assert sorted(n for n in declared if not apart.search(n) and not (MADE / "man3" / f"{n}.3").is_file()) == []


def test_the_page_of_qsub_lists_the_attributes_that_a_submission_may_not_set():
    table = re.search(r"not_yet\[\] = \{(.*?)\n\};", (TOP / "server/queued/new_job.c").read_text(encoding="utf-8"), re.S)
    missing = page("qsub.1").split(".Sh NOT SUPPORTED YET")[1]
    names = re.findall(r'\{"(\w+)"', table[1])
    assert names and [n for n in names if n not in missing] == []


def test_pages_point_only_to_pages_that_are_there():
    there = {p.name for p in all_pages()}
    lost = {
        f"{p.name}: {name}({section})"
        for p in all_pages()
        for name, section in re.findall(r"^\.Xr (\S+) (\d)", p.read_text(encoding="utf-8"), re.M)
        if f"{name}.{section}" not in there
    }
    assert lost == set()


def test_a_page_begins_as_its_file_is_called():
    wrong = []
    for p in all_pages():
        text = p.read_text(encoding="utf-8")
        name, section = p.name.rsplit(".", 1)
        if text.startswith(".so "):
            assert (HAND / text.split("/")[1].strip()).is_file()
        elif not re.search(rf"^\.Dt (?:\\&)?{re.escape(name)} {section} ", text, re.M | re.I):
            wrong.append(p.name)
        elif not re.search(rf"^\.Nm (?:\\&)?{re.escape(name)}\b", text, re.M):
            wrong.append(p.name)
    assert wrong == []


STOREYS = ("base", "ifl", "server", "sched", "mom", "cmds", "web", "sim", "site", "test", "tools", "doc")


@pytest.mark.parametrize("page", ["doc/glossary.md", "doc/structure.md", "CONTRIBUTING.md"])
def test_files_and_folders_that_a_page_names_exist(page):
    """A path between backticks, without its suffix where it is a pair of .c and .h; capitals and stars are patterns."""
    text = (TOP / page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:%s)/[\w./-]+)`" % "|".join(STOREYS), text)
    named = [n for n in named if not re.search(r"[A-Z]{3,}", n)]
    assert named
    assert [n for n in named if not (TOP / n).exists() and not list(TOP.glob(n.rstrip("/") + ".*"))] == []


def numbers(cell):
    """The numbers of "7, 13" and "19-21, 58"."""
    for part in cell.replace(" ", "").split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def procedures(protocol):
    text = (TOP / "ifl/protocol" / f"{protocol}.x").read_text()
    return {int(n): name for name, n in re.findall(rf"\b{protocol.upper()}_(\w+)\([^)]*\)\s*=\s*(\d+);", text) if n != "0"}


def test_every_request_of_the_batch_protocol_has_a_row_in_its_page():
    cells = re.findall(r"^\| ([\d, -]+) \| ", (TOP / "doc/internals/ifl-protocol.md").read_text(), re.M)
    assert sorted(n for c in cells for n in numbers(c)) == sorted(procedures("ifl"))


def test_every_call_and_capability_of_the_execution_protocol_is_in_its_page():
    text, page = (TOP / "ifl/protocol/exec.x").read_text(), (TOP / "doc/internals/exec-protocol.md").read_text()
    assert [f"{name} {n}" for n, name in procedures("exec").items() if n > 2 and not re.search(rf"\b{name} {n}\b", page)] == []
    bits = re.findall(r"const (EXEC_(?:CAN|WANTS|CKPT)_\w+)\s*=\s*(\d+);", text)
    assert [bit for bit in bits if f"| {bit[1]} | `{bit[0]}` |" not in page] == []


def test_a_port_has_the_same_number_on_every_page():
    """`PBS_X_PORT` (15001) in a page is what the row of pbs.conf says; the table of doc/security.md has each port that is listened to."""
    table = (TOP / "ifl/spec/conf.def").read_text(encoding="utf-8")
    presets = dict(re.findall(r'^CONF\((PBS_\w+_PORT), PORT, "(\d+)"', table, re.M))
    said = [(p.name, *pair) for p in (TOP / "doc").rglob("*.md")
            for pair in re.findall(r"`(PBS_\w+_PORT)` \((\d+)\)|`(PBS_\w+_PORT)`, (\d+)\)", p.read_text(encoding="utf-8"))]
    said = [(name, *[x for x in pair if x]) for name, *pair in said]
    assert len(said) > 4 and [s for s in said if presets.get(s[1]) != s[2]] == []
    ports = (TOP / "doc/security.md").read_text(encoding="utf-8").split("## Ports and sockets")[1].split("\n## ")[0]
    heard = ("PBS_BATCH_SERVICE_PORT", "PBS_MANAGER_SERVICE_PORT", "PBS_DATA_SERVICE_PORT", "PBS_MOM_SERVICE_PORT")
    assert [k for k in heard if f"`{k}`" not in ports] == []


def test_no_file_has_marks_of_a_merge():
    found = subprocess.run(["git", "grep", "-lE", "^(<<<<<<<|>>>>>>>) "], cwd=TOP, capture_output=True, text=True, check=False)
    assert found.stdout == ""


def test_each_walk_through_the_sources_names_at_most_eight_files():
    files = {name: {f for step in steps for f, _ in step if f.endswith(".c")} for name, steps in walks().items()}
    assert len(files) > 3 and [name for name, of_walk in files.items() if len(of_walk) > 8] == []


def defines(path, name):
    text = (TOP / path).read_text(encoding="utf-8")
    if path.endswith(".py"):
        return all(re.search(rf"^ *(?:def|class) {word}\b", text, re.M) for word in name.split("."))
    return bool(re.search(rf"^\w[^;{{}}()#]*\b{name}\([^;{{}}]*\)\n\{{$", text, re.M))


def test_each_step_of_a_walk_begins_with_a_file_and_a_function_that_it_defines():
    firsts = [(name, *step[0]) for name, steps in walks().items() for step in steps]
    assert len(firsts) > 40
    assert [f for f in firsts if not f[1].endswith(".js") and not (f[2] and defines(f[1], f[2]))] == []
