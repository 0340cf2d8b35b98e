/* See check_formula.h. The words are those that pbs_sched knows (sched/core/order/rating.c). */
#include "check_formula.h"

#include <string.h>

#include "formula.h"
#include "parts.h"
#include "pbs_error.h"
#include "type_scalar.h"

static const char *const words[] = {"eligible_time",    "queue_priority",  "job_priority",
                                    "fairshare_perc",   "fair_share_perc", "fairshare_tree_usage",
                                    "fairshare_factor", "accrue_type"};

static bool is_word(const char *name)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], name) == 0)
            return true;
    return false;
}

static bool is_number(const struct resource *r)
{
    static const struct value_type *const types[] = {&type_long,     &type_long64, &type_float,
                                                     &type_duration, &type_size,   &type_boolean};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (r->type == types[i])
            return true;
    return false;
}

static int check_formula_check_name(const struct server_ctx *s, const char *name, struct err *e)
{
    const struct resource *r;

    if (is_word(name))
        return 0;
    r = resource_find(s->resources, name);
    if (!r)
        return err_set(e, PBSE_BAD_FORMULA_KW, "Formula contains invalid keyword: %s", name);
    return is_number(r) ? 0
                        : err_set(e, PBSE_BAD_FORMULA_TYPE,
                                  "Formula contains a resource of an invalid type: %s is not a number", name);
}

static int check_text(const struct server_ctx *s, const char *text, struct err *e)
{
    struct formula *f = formula_parse(text, e);
    const char *const *names;
    int rc = 0;

    if (!f)
        return err_set(e, PBSE_BAD_FORMULA, "Invalid Formula Format: %s", e->text);
    for (size_t i = 0, n = formula_names(f, &names); rc == 0 && i < n; i++)
        rc = check_formula_check_name(s, names[i], e);
    formula_destroy(f);
    return rc;
}

static int check_formula_check(const struct server_ctx *s, const char *text, const char *other, struct err *e)
{
    if (!text)
        return 0;
    if (check_text(s, text, e) < 0)
        return -1;
    if (other && strcmp(other, text) != 0)
        return err_set(e, PBSE_SVR_SCHED_JSF_INCOMPAT,
                       "Server's job_sort_formula value is incompatible with sched's: the other is %s",
                       other);
    return 0;
}

int check_server_formula(void *arg, const struct object *o, const struct attr_list *now, struct err *e)
{
    const struct server_ctx *s = ((struct parts *)arg)->ctx;
    const struct sched_obj *d = scheds_find(s->scheds, "default");

    return check_formula_check(s, attr_list_text(now, SERVER_ATTR_job_sort_formula),
                               d ? attr_list_text(&d->obj.attrs, SCHED_ATTR_job_sort_formula) : NULL, e);
}

int check_sched_formula(void *arg, const struct object *o, const struct attr_list *now, struct err *e)
{
    const struct server_ctx *s = ((struct parts *)arg)->ctx;
    bool is_default = strcmp(o->name, "default") == 0;

    return check_formula_check(
        s, attr_list_text(now, SCHED_ATTR_job_sort_formula),
        is_default ? attr_list_text(&s->server->obj.attrs, SERVER_ATTR_job_sort_formula) : NULL, e);
}
