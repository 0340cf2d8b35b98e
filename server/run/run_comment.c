/* The comment of a run. See run_comment.h. Two actions of the machine write it (act_start, act_started), a resume, and qrun;
 * what a scheduler has written meanwhile is replaced. run_comment_forget() knows the texts by how they begin: a new one goes into its table. */
#include "run_comment.h"

#include <string.h>
#include <time.h>

#include "job_run.h"
#include "server_ctx.h"
#include "strbuf.h"

enum { COMMENT_MAX = 255 }; /* as PBS cuts it, with an ellipsis */

static void run_comment_put(struct job *j, struct strbuf *text)
{
    if (text->len > COMMENT_MAX) {
        strbuf_cut(text, COMMENT_MAX - 3);
        strbuf_add(text, "...");
    }
    attr_list_set_text(&j->obj.attrs, JOB_ATTR_comment, strbuf_str(text), NULL);
    strbuf_fini(text);
}

void run_comment_set_by_hand(struct job *j, const char *location)
{
    struct strbuf text;

    strbuf_init(&text, 1 << 20);
    strbuf_add(&text, "Job manually qrun");
    if (location)
        strbuf_addf(&text, " on %s", location);
    else
        strbuf_add(&text, ".");
    run_comment_put(j, &text);
}

void run_comment_set(const struct server_ctx *s, struct job *j, const char *what)
{
    time_t now = (time_t)server_ctx_now_s(s);
    struct tm tm;
    struct strbuf text;
    char when[64];

    localtime_r(&now, &tm);
    strftime(when, sizeof when, "%a %b %d at %H:%M", &tm);
    strbuf_init(&text, 1 << 20);
    strbuf_addf(&text, "Job %s at %s on %s", what, when, j->run->exec_vnode);
    if (j->run->no_image_why)
        strbuf_addf(&text, "; started from the beginning, %s", j->run->no_image_why);
    run_comment_put(j, &text);
}

void run_comment_forget(struct job *j)
{
    static const char *const begins[] = {"Job run at ", "Job was sent for execution at ", "Job manually qrun",
                                         "Notice withdrawn: ", "Preemption withdrawn: "};
    const char *text = attr_list_text(&j->obj.attrs, JOB_ATTR_comment);

    for (size_t i = 0; text && i < sizeof begins / sizeof begins[0]; i++)
        if (strncmp(text, begins[i], strlen(begins[i])) == 0) {
            attr_list_unset(&j->obj.attrs, JOB_ATTR_comment);
            return;
        }
}
