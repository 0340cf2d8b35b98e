/* libedit does the editing; here are the key for completion, the history, and "!n". qmgr_complete offers the words
 * that fit; they are only counted and compared here, once to finish the word and, when nothing new can be typed, once
 * more to show them. libedit's callbacks find the struct by EL_CLIENTDATA. */
#include "qmgr_edit.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <histedit.h>

#include "qmgr_complete.h"

enum { HISTORY_LINES = 500 };

struct qmgr_edit {
    EditLine *line;
    History *history;
    HistEvent event;
    const char *prompt;
    qmgr_edit_names_fn *names;
    void *names_arg;
    char *text; /* the last line */
    char file[PATH_MAX];
};

static char *qmgr_edit_show_prompt(EditLine *line)
{
    struct qmgr_edit *e;

    el_get(line, EL_CLIENTDATA, &e);
    return (char *)e->prompt;
}

/* --- completion --------------------------------------------------------------------------------------------- */

enum { COMMON_MAX = 256, ROW_WIDTH = 78 };

/* The words that fit the one under the cursor: how many, what they have in common, and, the second time, a list. */
struct fitting {
    size_t n, column;
    char common[COMMON_MAX];
    bool show;
};

static void qmgr_edit_take_fitting(void *arg, const char *word)
{
    struct fitting *f = arg;
    size_t same = 0;

    if (f->show) {
        if (f->column && f->column + strlen(word) + 2 > ROW_WIDTH)
            f->column = 0, putchar('\n');
        f->column += (size_t)printf("%s%s", f->column ? "  " : "", word);
    }
    if (f->n++ == 0) {
        snprintf(f->common, sizeof f->common, "%s", word);
        return;
    }
    while (f->common[same] && f->common[same] == word[same])
        same++;
    f->common[same] = '\0';
}

/* Finish the word where one fits; of several type what they share, and when that is nothing new, show them. */
static unsigned char qmgr_edit_tab_cb(EditLine *line, int key)
{
    const LineInfo *info = el_line(line);
    struct fitting f = {.n = 0};
    struct qmgr_complete c = {.word = qmgr_edit_take_fitting, .arg = &f};
    struct qmgr_edit *e;
    char typed[COMMON_MAX * 4], rest[COMMON_MAX + 1];
    size_t n;

    el_get(line, EL_CLIENTDATA, &e);
    snprintf(typed, sizeof typed, "%.*s", (int)(info->cursor - info->buffer), info->buffer);
    c.names = e->names;
    c.names_arg = e->names_arg;
    n = qmgr_complete(typed, &c);
    if (f.n == 0)
        return CC_ERROR;
    snprintf(rest, sizeof rest, "%s%s", f.common + n,
             f.n == 1 && f.common[strlen(f.common) - 1] != '.' ? " " : "");
    if (*rest)
        return el_insertstr(line, rest) == 0 ? CC_REFRESH : CC_ERROR;
    putchar('\n');
    f = (struct fitting){.show = true};
    qmgr_complete(typed, &c);
    putchar('\n');
    fflush(stdout);
    return CC_REDISPLAY;
}

/* --- the terminal ------------------------------------------------------------------------------------------- */

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

struct qmgr_edit *qmgr_edit_create(qmgr_edit_names_fn *names, void *arg)
{
    struct qmgr_edit *e = calloc(1, sizeof *e);

    if (!e)
        return NULL;
    e->names = names;
    e->names_arg = arg;
    e->line = el_init("qmgr", stdin, stdout, stderr);
    e->history = history_init();
    if (!e->line || !e->history) {
        qmgr_edit_destroy(e);
        return NULL;
    }
    load_history(e);
    el_set(e->line, EL_CLIENTDATA, e);
    el_set(e->line, EL_PROMPT, qmgr_edit_show_prompt);
    el_set(e->line, EL_EDITOR, "emacs");
    el_set(e->line, EL_HIST, history, e->history);
    el_set(e->line, EL_SIGNAL, 1);
    el_set(e->line, EL_ADDFN, "qmgr-complete", "finish the word", qmgr_edit_tab_cb);
    el_set(e->line, EL_BIND, "^I", "qmgr-complete", NULL);
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
