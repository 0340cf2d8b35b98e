/* See letters.h. */
#include "letters.h"

#include <string.h>

#include "attr_list.h"
#include "type_order.h"

static int64_t asked_s(const struct job *j, int resource)
{
    return value_number(attr_list_amount(&j->obj.attrs, JOB_ATTR_Resource_List, resource));
}

/* Usage is reported now and then; a running job's walltime is at least what it had then. */
static int64_t walltime_used_s(const struct job *j, int64_t now_s)
{
    int64_t reported = j->usage.walltime_ms / 1000;
    int64_t since = j->stime_s && j->state == JOB_RUNNING ? now_s - j->stime_s : 0;

    return reported > since || j->suspender != SUSPENDED_BY_NOBODY ? reported : since;
}

int letters_percent_left(const struct job *j, int64_t now_s)
{
    int64_t asked = asked_s(j, RESC_soft_walltime), used = walltime_used_s(j, now_s), left;

    if (!asked)
        asked = asked_s(j, RESC_walltime);
    if (!asked) {
        asked = asked_s(j, RESC_cput);
        used = j->usage.cput_ms / 1000;
    }
    if (!asked || used <= 0)
        return 100;
    left = 100 - used * 100 / asked; /* truncation is that of the share used, as PBS has it */
    return left < 0 ? 1 : (int)left;
}

void letters_for(const struct job *j, const char *preempt_order, int64_t now_s, char out[5])
{
    struct preempt_order order;
    struct err e;

    if (!preempt_order || order_parse(preempt_order, &order, &e) < 0)
        order_parse("SCR", &order, &e);
    snprintf(out, 5, "%s", order_letters(&order, letters_percent_left(j, now_s)));
}
