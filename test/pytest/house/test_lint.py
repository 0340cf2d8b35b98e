"""The checks of names, externs and words that `make lint` makes: each fault is made on purpose, in a tree of its own."""
import os
import subprocess

import pytest

TOOLS = os.path.join(os.path.dirname(__file__), "..", "..", "..", "tools")
FUNCTION = "int helper(void);\nint {}(void)\n{{\n    return helper();\n}}\n"


@pytest.fixture
def tree(tmp_path):
    """write(path=text) puts files below a git tree; lint(check, folder) returns the exit code and what was printed"""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)

    def write(files):
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)

    def lint(check, *folders):
        done = subprocess.run([os.path.join(TOOLS, f"lint-{check}"), *folders], cwd=tmp_path, text=True, capture_output=True)
        assert not done.stderr, done.stderr
        return done.returncode, done.stdout
    tree.write, tree.lint, tree.root = write, lint, tmp_path
    return tree


def test_a_function_name_in_four_files_is_refused_and_in_three_allowed(tree):
    static = "static " + FUNCTION.format("look").replace("int helper(void);\n", "", 1)
    tree.write({f"a/f{i}.c": static for i in range(3)} | {"a/f_test.c": static})
    assert tree.lint("names", "a") == (0, "")
    tree.write({"b/f9.c": static})
    code, text = tree.lint("names", "a")
    assert code == 1 and text.startswith("look: 4 functions: a/f0.c ")
    assert tree.lint("names", "c") == (0, "")


def test_a_base_name_of_two_files_is_refused_but_main(tree):
    tree.write({"a/run.h": "", "b/main.c": "", "a/main.c": ""})
    assert tree.lint("names", "a", "b") == (0, "")
    tree.write({"b/run.h": ""})
    assert tree.lint("names", "b") == (1, "run.h: 2 files: a/run.h b/run.h\n")


def test_a_comment_that_names_a_missing_file_is_refused(tree):
    tree.write({"a/x.c": "/* See b/y.h and y.h; the rules are in b/z.h and\n * old.md. */\nint z = a.c;\n", "b/y.h": ""})
    assert tree.lint("names", "a") == (1, "a/x.c: a comment names b/z.h, which is not in the tree\n"
                                          "a/x.c: a comment names old.md, which is not in the tree\n")
    tree.write({"a/x.c": "/* See b/y.h. */\n"})
    assert tree.lint("names", "a") == (0, "")


def test_a_folder_of_too_many_files_is_refused(tree):
    tree.write({f"a/f{i}.c": "" for i in range(33)} | {"a/f0_test.c": ""})
    assert tree.lint("names", "a") == (1, "a: 33 .c files; 32 are the most\n")


@pytest.mark.parametrize("others, refused", [
    ({}, "no other file uses it"),
    ({"a/x.h": "int x_run(void);\n"}, "no other file uses it"),
    ({"a/y.c": "/* x_run */ const char *s = \"say x_run\";\n"}, "no other file uses it"),
    ({"a/x_test.c": "int t = x_run();\n"}, "only tests use it"),
    ({"a/y.c": "int y = x_run();\n"}, None),
    ({"a/y.c": "void *f(void) { return dlsym(NULL, \"x_run\"); }\n"}, None),
    ({"a/y.def": "ROW(x_run)\n"}, None),
    ({"a/x.h": "static inline int f(void) { return x_run(); }\n"}, None),
    ({"a/y.c": "#define CALL(name) x_##name()\n"}, None),
    ({"ifl/include/x.h": "int x_run(void);\n"}, None)])
def test_an_extern_function_needs_a_caller_in_the_product(tree, others, refused):
    tree.write({"a/x.c": FUNCTION.format("x_run")} | others)
    code, text = tree.lint("externs", "a")
    assert (code, text) == ((1, f"a/x.c: x_run is extern, and {refused}\n") if refused else (0, ""))


def test_a_test_may_call_a_part_of_what_its_file_uses(tree):
    tree.write({"a/x.c": FUNCTION.format("x_part") + "static int x_all(void)\n{\n    return x_part();\n}\n",
                "a/x_test.c": "int t = x_part();\n"})
    assert tree.lint("externs", "a") == (0, "")


def test_words_are_found_where_people_read_and_over_the_end_of_a_line(tree):
    tree.write({"a/x.c": '/* Whoever calls. It goes\n * on. */\nint nobody = f("nobody", "for nobody");\n', "a/x.md": "It is `nobody`.\n\nAnew.\n",
                "a/tool": "#!/bin/sh\n# lest it fail\nnobody=1\n"})
    code, text = tree.lint("words", "a")
    assert code == 1
    assert [line.rsplit(": ", 1)[0] for line in text.splitlines()] == [
        'a/tool:2: "lest"', 'a/x.c:1: "Whoever"', 'a/x.c:1: "goes on"', 'a/x.c:3: "nobody"', 'a/x.md:3: "Anew"']
    tree.write({"a/x.c": "int x;\n", "a/x.md": "", "a/tool": ""})
    assert tree.lint("words", "a") == (0, "")


def test_files_that_call_each_other_are_refused(tree):
    call = "int {0}(void)\n{{\n    return {1}();\n}}\n"
    tree.write({"a/x.c": call.format("x_run", "y_run"), "a/y.c": call.format("y_run", "z_run"),
                "b/z.c": "int z_run(void)\n{\n    return hand_over(x_run, \"x_run()\"); /* x_run() */\n}\n"})
    assert tree.lint("circles", "a", "b") == (0, "")
    tree.write({"b/z.c": call.format("z_run", "x_run")})
    assert tree.lint("circles", "b") == (1, "3 files call each other:\n    a/x.c calls a/y.c: y_run\n    a/y.c calls b/z.c: z_run\n"
                                            "    b/z.c calls a/x.c: x_run\n")
    assert tree.lint("circles", "c") == (0, "")


@pytest.mark.parametrize("others, refused", [
    ("", True),
    ("int y = f(1, 2);\n", True),
    ("fn *y = f;\n", False),
    ("ROW(f)\n", False)])
def test_a_parameter_is_used_where_the_signature_is_the_functions_own(tree, others, refused):
    tree.write({"a/x.c": "int f(int used, const char *ignored) /* f */\n{\n    return used; /* ignored */\n}\n".replace(" /* f */", ""),
                "a/y.c": others})
    assert tree.lint("params", "a") == ((1, "a/x.c:1: f ignores its parameter ignored\n") if refused else (0, ""))


def test_casts_of_parameters_are_taken_out_unless_they_have_a_reason(tree):
    tree.write({"a/x.c": "static int f(void *arg)\n{\n    (void)arg;\n\n    return 0;\n}\nfn *g = f;\n",
                "a/y.c": "static int f(void *arg)\n{\n    (void)arg; /* there is one */\n    return 0;\n}\nfn *g = f;\n"})
    kept = (tree.root / "a/y.c").read_text()
    assert tree.lint("params", "--fix", "a") == (0, "") and tree.lint("params", "a") == (0, "")
    assert (tree.root / "a/x.c").read_text() == "static int f(void *arg)\n{\n    return 0;\n}\nfn *g = f;\n"
    assert (tree.root / "a/y.c").read_text() == kept


def test_json_is_parsed_through_one_file():
    """So that what comes from outside is bounded in one place (base/json_read.h)."""
    root = os.path.join(TOOLS, "..")
    calls = subprocess.run(["git", "grep", "-lE", r"\<json_load(s|b|f|fd|_file|_callback)\>", "--", "*.c", ":!*_test.c"], cwd=root, text=True,
                           capture_output=True, check=True)
    assert calls.stdout.split() == ["base/json_read.c"]
