/* What was before an alteration. See resv_revert.h.
 *
 * It is an attribute, one text, so that it is stored with the altered times in one row: after a restart a refusal still
 * finds what to go back to. */
#include "resv_revert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REVERT_TEXT = 100 }; /* four numbers of 20 digits and the mark */
static const char forced_mark[] = " forced";

static const char *resv_revert_text(const struct resv *r)
{
    return attr_list_text(&r->obj.attrs, RESV_ATTR_reserve_alter_revert);
}

bool resv_revert_get(const struct resv *r, struct resv_times *was, int *substate)
{
    char *at = (char *)resv_revert_text(r);

    if (!at)
        return false;
    was->start_s = strtoll(at, &at, 10);
    was->end_s = strtoll(at, &at, 10);
    was->duration_s = strtoll(at, &at, 10);
    *substate = (int)strtol(at, &at, 10);
    return true;
}

int resv_revert_keep(struct resv *r, bool forced)
{
    char text[REVERT_TEXT];

    snprintf(text, sizeof text, "%lld %lld %lld %d%s", (long long)resv_number(r, RESV_ATTR_reserve_start),
             (long long)resv_number(r, RESV_ATTR_reserve_end),
             (long long)resv_number(r, RESV_ATTR_reserve_duration), (int)resv_substate(r),
             forced ? forced_mark : "");
    return attr_list_set_text(&r->obj.attrs, RESV_ATTR_reserve_alter_revert, text, NULL);
}

int64_t resv_revert_end(const struct resv *r)
{
    struct resv_times was;
    int substate;

    return resv_revert_get(r, &was, &substate) ? was.end_s : INT64_MAX;
}

bool resv_revert_moves_start(const struct resv *r)
{
    struct resv_times was;
    int substate;

    return resv_revert_get(r, &was, &substate) && was.start_s != resv_number(r, RESV_ATTR_reserve_start);
}

bool resv_revert_is_forced(const struct resv *r)
{
    const char *text = resv_revert_text(r), *last = text ? strrchr(text, ' ') : NULL;

    return last && strcmp(last, forced_mark) == 0;
}
