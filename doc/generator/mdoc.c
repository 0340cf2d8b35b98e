/* See mdoc.h. */
#include "mdoc.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

enum { LINE_LENGTH_MAX = 4096 };

/* In an argument of a macro a blank ends the word and a quote opens one; short words would be taken as macros. */
static void mdoc_put(FILE *f, const char *text, bool argument)
{
    if (argument || *text == '.' || *text == '\'')
        fputs("\\&", f);
    for (; *text; text++) {
        if (*text == '\\')
            fputs("\\e", f);
        else if (*text == '-')
            fputs("\\-", f);
        else if (*text == '"' && argument)
            fputs("\\(dq", f);
        else if (*text == ' ' && argument)
            fputs("\\ ", f);
        else
            fputc(*text == '\n' ? ' ' : *text, f);
    }
}

void mdoc_head(FILE *f, const struct mdoc_head *h)
{
    fprintf(
        f, ".\\\" Made by the build from the tables of ifl/; not to be edited.\n.Dd November 21, 2026\n.Dt ");
    mdoc_put(f, h->name, true);
    fprintf(f, " %s LOCAL\n.Os Cede\n.Sh NAME\n.Nm ", h->section);
    mdoc_put(f, h->name, true);
    fputs("\n.Nd ", f);
    mdoc_put(f, h->about, false);
    fputc('\n', f);
}

void mdoc_section(FILE *f, const char *title)
{
    fprintf(f, ".Sh %s\n", title);
}

void mdoc_list_open(FILE *f)
{
    fputs(".Bl -tag -width 8n\n", f);
}

void mdoc_term(FILE *f, const char *term, const char *note)
{
    fputs(".It Sy ", f);
    mdoc_put(f, term, true);
    if (note && *note) {
        fputs(" No ", f);
        mdoc_put(f, note, true);
    }
    fputc('\n', f);
}

void mdoc_list_close(FILE *f)
{
    fputs(".El\n", f);
}

void mdoc_line(FILE *f, const char *fmt, ...)
{
    char line[LINE_LENGTH_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    mdoc_put(f, line, false);
    fputc('\n', f);
}

void mdoc_paragraph(FILE *f)
{
    fputs(".Pp\n", f);
}

void mdoc_example(FILE *f, const char *text)
{
    char line[LINE_LENGTH_MAX];
    size_t n;

    fputs(".Bd -literal -offset indent\n", f);
    for (; *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)n, text);
        mdoc_put(f, line, false);
        fputc('\n', f);
    }
    fputs(".Ed\n", f);
}

void mdoc_see(FILE *f, const char *const pages[])
{
    mdoc_section(f, "SEE ALSO");
    for (; *pages; pages++)
        fprintf(f, ".Xr %s%s\n", *pages, pages[1] ? " ," : "");
}
