/* The terminal side of qmgr, by libedit. See qmgr_edit.h. */
#include "qmgr_edit.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <histedit.h>

enum { HISTORY_LINES = 500 };

struct qmgr_edit {
    EditLine *line;
    History *history;
    HistEvent event;
    const char *prompt;
    char *text; /* the last line */
    char file[PATH_MAX];
};

static char *show_prompt(EditLine *line)
{
    struct qmgr_edit *e;

    el_get(line, EL_CLIENTDATA, &e);
    return (char *)e->prompt;
}

static void load_history(struct qmgr_edit *e)
{
    const char *home = getenv("HOME");

    history(e->history, &e->event, H_SETSIZE, HISTORY_LINES);
    history(e->history, &e->event, H_SETUNIQUE, 1);
    if (home && (size_t)snprintf(e->file, sizeof e->file, "%s/.pbs_qmgr_history", home) < sizeof e->file)
        history(e->history, &e->event, H_LOAD, e->file);
    else
        e->file[0] = '\0';
}

struct qmgr_edit *qmgr_edit_create(void)
{
    struct qmgr_edit *e = calloc(1, sizeof *e);

    if (!e)
        return NULL;
    e->line = el_init("qmgr", stdin, stdout, stderr);
    e->history = history_init();
    if (!e->line || !e->history) {
        qmgr_edit_destroy(e);
        return NULL;
    }
    load_history(e);
    el_set(e->line, EL_CLIENTDATA, e);
    el_set(e->line, EL_PROMPT, show_prompt);
    el_set(e->line, EL_EDITOR, "emacs");
    el_set(e->line, EL_HIST, history, e->history);
    el_set(e->line, EL_SIGNAL, 1);
    el_source(e->line, NULL);
    return e;
}

void qmgr_edit_destroy(struct qmgr_edit *e)
{
    if (!e)
        return;
    if (e->history && e->file[0])
        history(e->history, &e->event, H_SAVE, e->file);
    if (e->history)
        history_end(e->history);
    if (e->line)
        el_end(e->line);
    free(e->text);
    free(e);
}

/* "!n" is line n of the history. */
static int recall(struct qmgr_edit *e, const char *number)
{
    char *end;
    long n = strtol(number, &end, 10);

    if (end == number || *end || n < 1 || n > INT_MAX ||
        history(e->history, &e->event, H_NEXT_EVENT, (int)n) < 0) {
        printf("qmgr: there is no line %s in the history\n", number);
        return -1;
    }
    free(e->text);
    e->text = strdup(e->event.str);
    if (e->text)
        e->text[strcspn(e->text, "\n")] = '\0';
    return e->text ? 0 : -1;
}

static void go_to_newest(struct qmgr_edit *e)
{
    history(e->history, &e->event, H_FIRST);
}

const char *qmgr_edit_line(struct qmgr_edit *e, const char *prompt)
{
    const char *typed;
    int n = 0;

    e->prompt = prompt;
    typed = el_gets(e->line, &n);
    if (!typed || n <= 0)
        return NULL;
    free(e->text);
    e->text = strndup(typed, strcspn(typed, "\n"));
    if (!e->text)
        return NULL;
    go_to_newest(e);
    if (*e->text == '!' && e->text[1] && recall(e, e->text + 1) < 0)
        return "";
    if (e->text[strspn(e->text, " \t")])
        history(e->history, &e->event, H_ENTER, e->text);
    return e->text;
}

void qmgr_edit_history(struct qmgr_edit *e, FILE *f, int n)
{
    int rc, skip = 0, all = 0;

    for (rc = history(e->history, &e->event, H_LAST); rc >= 0; rc = history(e->history, &e->event, H_PREV))
        all++;
    skip = n && n < all ? all - n : 0;
    for (rc = history(e->history, &e->event, H_LAST); rc >= 0; rc = history(e->history, &e->event, H_PREV))
        if (skip-- <= 0)
            fprintf(f, "%d\t%.*s\n", e->event.num, (int)strcspn(e->event.str, "\n"), e->event.str);
}
