/* The order matters. Files are staged out first, while everything is there; what was brought in goes next;
 * the private directory goes only when all of it has been copied. Output is delivered last; what staging
 * could not copy is put in front of what that has to say. Each step may have been done already by a shepherd
 * that died in the middle. */
#include "closing.h"

#include <stdlib.h>
#include <string.h>

#include <shep.h>

#include "belongings.h"
#include "deliver.h"
#include "stage.h"
#include "strbuf.h"

static void add_failures(struct shep_close_result *r, int failed, const char *text)
{
    struct strbuf all;

    strbuf_init(&all, PBS_TEXT_MAX);
    strbuf_add(&all, text);
    strbuf_add(&all, r->text);
    r->failed += failed;
    free(r->text);
    r->text = strbuf_take(&all);
    if (!r->text)
        r->text = strdup(text);
}

void closing_do(const char *path, const struct shep_order *o, const struct shep_close_args *a,
                struct shep_close_result *r)
{
    struct strbuf text;
    int failed;

    strbuf_init(&text, PBS_TEXT_MAX);
    failed = stage_out(o, &a->out, &text);
    stage_remove(o, &a->brought);
    if (!failed && !a->keep_jobdir)
        stage_remove_jobdir(o);
    belongings_put_away(path, o);
    deliver_all(o, a, r);
    if (failed)
        add_failures(r, failed, strbuf_str(&text));
    strbuf_fini(&text);
}
