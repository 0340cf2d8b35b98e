/* The note is a host's word: any text, found by its marks. See kept_output.h. */
#include "kept_output.h"

#include <string.h>

static const char begins[] = ">>> error from copy\n", ends[] = ">>> end error output\n",
                  retained[] = "Output retained on that host in: ";

/* Reduce to one line: the text of a copy program may have several. */
static void add_flat(struct strbuf *out, const char *text, size_t n)
{
    while (n && (text[n - 1] == '\n' || text[n - 1] == ' '))
        n--;
    for (size_t i = 0; i < n; i++)
        strbuf_add_char(out, text[i] == '\n' ? ' ' : text[i]);
}

bool kept_output_add(struct strbuf *out, const char *host, const char *note)
{
    const char *why, *end, *path;
    bool any = false;

    for (; (why = strstr(note, begins)) && (end = strstr(why, ends)); note = end + strlen(ends)) {
        why += strlen(begins);
        path = end + strlen(ends);
        if (strncmp(path, retained, strlen(retained)) != 0)
            continue;
        path += strlen(retained);
        strbuf_addf(out, "%soutput kept on %s: ", any ? "; " : "", host);
        add_flat(out, path, strcspn(path, "\n"));
        strbuf_add(out, " (");
        add_flat(out, why, (size_t)(end - why));
        strbuf_add(out, ")");
        any = true;
    }
    return any;
}
