/* A search for one kind of element, no XML parser: the texts are those that qsub itself writes (cmds/lib/jsdl.c).
 * The five entities of XML are taken back. A text without an element is taken as plain words. */
#include "job_argv.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "strbuf.h"

enum { ARGUMENT_MAX = 1 << 20 };

static const struct {
    const char *entity;
    char c;
} entities[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};

static size_t add_character(struct strbuf *out, const char *at)
{
    for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++) {
        size_t n = strlen(entities[i].entity);

        if (strncmp(at, entities[i].entity, n) == 0) {
            strbuf_add_char(out, entities[i].c);
            return n;
        }
    }
    strbuf_add_char(out, *at);
    return 1;
}

static int add_element(struct words *out, const char *from, const char *to, struct err *e)
{
    struct strbuf b;
    int rc;

    strbuf_init(&b, ARGUMENT_MAX);
    for (const char *at = from; at < to;)
        at += add_character(&b, at);
    rc = strbuf_ok(&b) ? words_add(out, b.s, e) : err_set(e, ENOMEM, "no memory for an argument");
    strbuf_fini(&b);
    return rc;
}

/* Every element of this name in `text`; false in *found when there is none. */
static int add_elements(struct words *out, const char *text, const char *name, bool *found, struct err *e)
{
    char open[64], close[64];
    const char *at = text;

    snprintf(open, sizeof open, "<jsdl-hpcpa:%s>", name);
    snprintf(close, sizeof close, "</jsdl-hpcpa:%s>", name);
    *found = false;
    while ((at = strstr(at, open))) {
        const char *begin = at + strlen(open), *end = strstr(begin, close);

        if (!end)
            break;
        if (add_element(out, begin, end, e) < 0)
            return -1;
        *found = true;
        at = end + strlen(close);
    }
    return 0;
}

int job_argv_parse(const char *executable, const char *arguments, struct words *out, struct err *e)
{
    bool found;

    if (add_elements(out, executable, "Executable", &found, e) < 0 ||
        (!found && words_add(out, executable, e) < 0))
        return -1;
    if (!arguments)
        return 0;
    if (add_elements(out, arguments, "Argument", &found, e) < 0)
        return -1;
    return found ? 0 : words_parse(arguments, " \t", WORDS_QUOTES | WORDS_BACKSLASH, out, e);
}
