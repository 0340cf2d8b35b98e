/* Resource_List.preempt_targets: is it right? See preempt_targets.h.
 *
 * Names are checked when the job comes in or is altered, not again: a queue that is removed later is a
 * target that matches nothing. */
#include "preempt_targets.h"

#include <string.h>
#include <strings.h>

#include "pbs_error.h"
#include "server_ctx.h"
#include "strbuf.h"
#include "type_list.h"

enum { WORD_MAX = 4096 }; /* a choice: far above a name and a value of a resource */

static int bad(const char *word, const char *what, struct err *e)
{
    return err_set(e, PBSE_BADATVAL,
                   "Illegal attribute or resource value: preempt_targets: '%.80s' %s (NONE, queue=NAME or "
                   "Resource_List.NAME=VALUE)",
                   word, what);
}

/* "queue=workq", "Resource_List.ncpus=4" */
static int check_word(const struct server_ctx *s, const char *word, struct err *e)
{
    static const char list[] = "Resource_List.";
    const char *equals = strchr(word, '=');
    char name[WORD_MAX];

    if (!equals || !equals[1])
        return bad(word, "has no value", e);
    snprintf(name, sizeof name, "%.*s", (int)(equals - word), word);
    if (strcasecmp(name, "queue") == 0)
        return queues_find(s->queues, equals + 1) ? 0
                                                  : err_set(e, PBSE_UNKQUE, "Unknown queue: %s", equals + 1);
    if (strncasecmp(name, list, sizeof list - 1) != 0)
        return bad(word, "is of another attribute", e);
    if (!resource_find(s->resources, name + sizeof list - 1))
        return err_set(e, PBSE_UNKRESC, "Unknown resource: %s", name + sizeof list - 1);
    return 0;
}

int preempt_targets_check(const struct server_ctx *s, const struct attr_list *l, struct err *e)
{
    const char *text = value_text(attr_list_amount(l, JOB_ATTR_Resource_List, RESC_preempt_targets));
    size_t count = list_count(text), n;
    const char *word;

    while ((word = list_next(&text, &n))) {
        struct strbuf plain;
        int rc;

        strbuf_init(&plain, WORD_MAX - 1);
        if (list_unescape(&plain, word, n) < 0)
            rc = bad("", "is too long", e);
        else if (strcasecmp(strbuf_str(&plain), "NONE") == 0)
            rc = count == 1 ? 0 : bad("NONE", "is listed with others", e);
        else
            rc = check_word(s, strbuf_str(&plain), e);
        strbuf_fini(&plain);
        if (rc < 0)
            return -1;
    }
    return 0;
}
