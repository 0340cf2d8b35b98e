/* What of a host's note about files people are told. See kept_output.h.
 *
 * The note is a host's word: any text, found by its marks, and never trusted to be whole. An entry is: a line that says
 * what failed, `begins`, the reason in any number of lines, `ends`, and where the host put the file aside a line of that.
 * What has no such form is left out. */
#include "kept_output.h"

#include <string.h>

static const char begins[] = ">>> error from copy\n", ends[] = ">>> end error output\n",
                  retained[] = "Output retained on that host in: ", failed[] = "Unable to copy file ";

/* Reduce to one line: the text of a copy program may have several. */
static void add_flat(struct strbuf *out, const char *text, size_t n)
{
    while (n && (text[n - 1] == '\n' || text[n - 1] == ' '))
        n--;
    for (size_t i = 0; i < n; i++)
        strbuf_add_char(out, text[i] == '\n' ? ' ' : text[i]);
}

/* "output kept on HOST: PATH (WHY)", or where nothing was put aside "HOST: Unable to copy file FROM to TO (WHY)". */
static bool kept_output_add_one(struct strbuf *out, const char *host, const char *said, const char *why,
                                const char *end)
{
    const char *path = end + strlen(ends);
    size_t said_len = (size_t)(why - strlen(begins) - said);

    if (strncmp(path, retained, strlen(retained)) == 0) {
        path += strlen(retained);
        strbuf_addf(out, "output kept on %s: ", host);
        add_flat(out, path, strcspn(path, "\n"));
    } else if (said_len >= strlen(failed) && strncmp(said, failed, strlen(failed)) == 0) {
        strbuf_addf(out, "%s: ", host);
        add_flat(out, said, said_len);
    } else {
        return false;
    }
    strbuf_add(out, " (");
    add_flat(out, why, (size_t)(end - why));
    strbuf_add(out, ")");
    return true;
}

/* The beginning of the line before `at`. */
static const char *line_before(const char *note, const char *at)
{
    if (at > note)
        at--;
    while (at > note && at[-1] != '\n')
        at--;
    return at;
}

bool kept_output_add(struct strbuf *out, const char *host, const char *note)
{
    const char *mark, *end;
    bool any = false;

    for (; (mark = strstr(note, begins)) && (end = strstr(mark, ends)); note = end + strlen(ends)) {
        struct strbuf one;

        strbuf_init(&one, out->max);
        if (kept_output_add_one(&one, host, line_before(note, mark), mark + strlen(begins), end)) {
            strbuf_addf(out, "%s%s", any ? "; " : "", strbuf_str(&one));
            any = true;
        }
        strbuf_fini(&one);
    }
    return any;
}
