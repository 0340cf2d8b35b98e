/* The comment of a job that is held. See hold_comment.h. The text is PBS's, and tells this comment from those of schedulers: only one that
 * begins so is taken away when the hold is released. A job that runs has none then: what it said of the run has gone when the hold was set. */
#include "hold_comment.h"

#include <string.h>
#include <time.h>

#include "arrays.h"
#include "job.h"
#include "server_ctx.h"
#include "strbuf.h"

static const char held[] = "Job held by ";

static void hold_comment_say(const struct server_ctx *s, struct job *j, const char *who)
{
    time_t now = (time_t)server_ctx_now_s(s);
    struct strbuf text;
    char when[32];

    ctime_r(&now, when);
    strbuf_init(&text, 4096);
    strbuf_addf(&text, "%s%.*s on %.24s", held, (int)strcspn(who, "@"), who, when);
    attr_list_set_text(&j->obj.attrs, JOB_ATTR_comment, strbuf_str(&text), NULL);
    strbuf_fini(&text);
}

static bool hold_comment_is_said(const struct job *j)
{
    const char *text = attr_list_text(&j->obj.attrs, JOB_ATTR_comment);

    return text && strncmp(text, held, sizeof held - 1) == 0;
}

void hold_comment(struct server_ctx *s, struct job *j, const char *who, bool set)
{
    bool is_held = j->hold & ~(unsigned)(HOLD_DEPEND | HOLD_ARRAY); /* by a user */

    if (set && is_held)
        hold_comment_say(s, j, who);
    else if (!set && !is_held && hold_comment_is_said(j) && j->array && j->begun)
        arrays_comment(j);
    else if (!set && !is_held && hold_comment_is_said(j))
        attr_list_unset(&j->obj.attrs, JOB_ATTR_comment);
    else
        return;
    jobs_touch(s->jobs, j, PART_ATTRS);
}
