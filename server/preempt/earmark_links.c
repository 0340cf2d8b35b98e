/* Links between an earmark, its urgent job and its victims. See earmark_links.h.
 *
 * Only plan_earmark.c calls these. The array of victims has no order: each job knows its place in it (gives_way_at), so that a victim
 * that settles is taken out in one step; a plan may have thousands. `gives_way_to` may be cleared before a victim is struck
 * (withdrawn victims), never after the earmark has gone. */
#include "earmark_links.h"

#include <stdlib.h>

#include "earmark.h"
#include "server_ctx.h"
#include "limit_counts.h"
#include "words.h"

void earmark_links_job(struct server_ctx *s, struct earmark_obj *h, struct job *j)
{
    h->job = job_ref(j);
    j->room = h;
    limit_counts_review(s->limit_counts, j); /* from now on it counts as running */
    jobs_touch(s->jobs, j, PART_NONE);
}

int earmark_links_victim(struct earmark_obj *h, struct job *j)
{
    struct job **more = realloc(h->victims, (h->n_victims + 1) * sizeof(struct job *));

    if (!more)
        return -1;
    h->victims = more;
    j->gives_way_at = h->n_victims;
    h->victims[h->n_victims++] = job_ref(j);
    j->gives_way_to = h;
    return 0;
}

void earmark_links_strike(struct earmark_obj *h, struct job *j)
{
    size_t at = j->gives_way_at;

    if (at >= h->n_victims || h->victims[at] != j)
        return;
    h->victims[at] = h->victims[--h->n_victims];
    h->victims[at]->gives_way_at = at;
    job_unref(j);
}

void earmark_links_cut(struct server_ctx *s, struct earmark_obj *h)
{
    for (size_t i = 0; i < h->n_victims; i++) {
        h->victims[i]->gives_way_to = NULL;
        job_unref(h->victims[i]);
    }
    free(h->victims);
    h->victims = NULL;
    h->n_victims = 0;
    if (!h->job)
        return;
    h->job->room = NULL;
    if (h->job->state != JOB_GONE) {
        limit_counts_review(s->limit_counts, h->job);
        jobs_touch(s->jobs, h->job, PART_NONE);
    }
    job_unref(h->job);
    h->job = NULL;
}

int earmark_links_names(const struct earmark_obj *h, struct words *out)
{
    const char *text = attr_list_text(&h->obj.attrs, HOLD_ATTR_victims);
    struct err e;

    words_init(out);
    return text ? words_parse_commas(text, out, &e) : 0;
}
