/* Attributes of hooks, a row each: how its text is parsed and checked, how it is shown. See hook_attrs.h.
 *
 * A request's changes are applied to a copy, and the copy replaces the settings when all of them are good. The rows
 * marked `last` are checked against the others (freq, user and fail_action against the events), so they are applied
 * after them, whatever the order in the request. */
#include "hook_attrs.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "hook_event.h"
#include "pbs_error.h"

enum { SITE_LOWEST = 1, SITE_HIGHEST = 1000, PBS_LOWEST = -1000, PBS_HIGHEST = 2000, TEXT_MAX = 4096 };

enum {
    USER_EVENTS = HOOK_EVENT_execjob_prologue | HOOK_EVENT_execjob_epilogue | HOOK_EVENT_execjob_preterm,
    FREQ_EVENTS = HOOK_EVENT_periodic | HOOK_EVENT_exechost_periodic,
    OFFLINE_EVENTS = HOOK_EVENT_execjob_begin | HOOK_EVENT_exechost_startup | HOOK_EVENT_execjob_prologue,
    RESTART_EVENTS = HOOK_EVENT_execjob_begin | HOOK_EVENT_execjob_prologue
};

/* What a change is applied to. */
struct hook_attrs_target {
    const struct hooks *hooks;
    const char *name; /* of the hook */
    struct hook_settings *set;
};

typedef int hook_attrs_set_fn(const struct hook_attrs_target *t, const struct hook_attr_change *c,
                              struct err *e);
typedef void hook_attrs_show_fn(const struct hook_settings *s, struct strbuf *out);

/* ---- texts to values --------------------------------------------------------------------------------- */

static int hook_attrs_set_type(const struct hook_attrs_target *t, const struct hook_attr_change *c,
                               struct err *e)
{
    if (t->set->of_pbs && c->op == UNSET)
        return err_set(e, PBSE_HOOKERROR, "can't unset hook's type since hook name is %s", t->name);
    if (t->set->of_pbs && strcmp(c->value, "site") == 0)
        return err_set(e, PBSE_HOOKERROR,
                       "can't set hook to site type - hook name (%s) already prefixed with PBS", t->name);
    if (c->op == UNSET || strcmp(c->value, t->set->of_pbs ? "pbs" : "site") == 0)
        return 0;
    if (strcmp(c->value, "pbs") == 0)
        return err_set(e, PBSE_HOOKERROR, "not allowed to set hook to 'pbs' type");
    return err_set(e, PBSE_HOOKERROR, "invalid argument to type, must be \"site\"");
}

static int hook_attrs_parse_bool(const char *text, bool *out, struct err *e)
{
    static const char *const words[][4] = {{"false", "f", "n", "0"}, {"true", "t", "y", "1"}};

    for (int value = 0; value < 2; value++)
        for (int i = 0; i < 4; i++)
            if (strcasecmp(text, words[value][i]) == 0) {
                *out = value;
                return 0;
            }
    return err_set(e, PBSE_HOOKERROR,
                   "unexpected value '%s', must be (not case sensitive) true|t|y|1|false|f|n|0", text);
}

static int hook_attrs_set_enabled(const struct hook_attrs_target *t, const struct hook_attr_change *c,
                                  struct err *e)
{
    return hook_attrs_parse_bool(c->op == UNSET ? "true" : c->value, &t->set->enabled, e);
}

static int hook_attrs_set_debug(const struct hook_attrs_target *t, const struct hook_attr_change *c,
                                struct err *e)
{
    return hook_attrs_parse_bool(c->op == UNSET ? "false" : c->value, &t->set->debug, e);
}

static int hook_attrs_refuse_event(const struct hook_attr_change *c, struct err *e)
{
    struct strbuf all;

    strbuf_init(&all, TEXT_MAX);
    hook_events_all(&all);
    err_set(e, PBSE_HOOKERROR,
            "invalid argument (%s) to event. Should be one or more of: %s or \"\" for no event%s", c->value,
            strbuf_str(&all), c->op == DECR ? "." : "");
    strbuf_fini(&all);
    return -1;
}

static int hook_attrs_parse_events(const struct hook_attr_change *c, uint32_t *out, struct err *e)
{
    const char *at = c->value;

    *out = 0;
    if (strcmp(at, "\"\"") == 0) /* as lists show it */
        return 0;
    while (*at) {
        size_t blanks = strspn(at, " "), n = strcspn(at + blanks, ",");
        const char *word = at + blanks;
        size_t length = n;

        while (length && word[length - 1] == ' ')
            length--;
        const struct hook_event *ev = hook_event_find(word, length);
        if (!ev)
            return hook_attrs_refuse_event(c, e);
        *out |= ev->bit;
        at = word + n + (word[n] == ',');
    }
    return 0;
}

/* An event that no part of the system runs is refused: a hook that silently never runs is a rule that is not kept. */
static int hook_attrs_check_served(uint32_t events, struct err *e)
{
    for (size_t i = 0; i < hook_events_count; i++) {
        const struct hook_event *ev = &hook_events[i];

        if (!(events & ev->bit))
            continue;
        if (ev->where == HOOK_AT_NOWHERE)
            return err_set(e, PBSE_HOOKERROR, "event %s: vnodes are not provisioned here", ev->name);
    }
    return 0;
}

static int hook_attrs_check_provision(const struct hook_attrs_target *t, uint32_t events, struct err *e)
{
    if (!(events & HOOK_EVENT_provision))
        return 0;
    if (events & ~(uint32_t)HOOK_EVENT_provision)
        return err_set(e, PBSE_HOOKERROR,
                       "Event provision is exclusive with other events, and only one provision hook allowed");
    for (const struct hook *h = hooks_first(t->hooks); h; h = h->next)
        if (h->set.events & HOOK_EVENT_provision && strcmp(h->name, t->name) != 0)
            return err_set(
                e, PBSE_HOOKERROR,
                "Another hook '%s' already has event 'provision', only one 'provision' hook allowed",
                h->name);
    return 0;
}

static int hook_attrs_set_event(const struct hook_attrs_target *t, const struct hook_attr_change *c,
                                struct err *e)
{
    struct hook_settings *s = t->set;
    uint32_t words = 0, events;

    if (c->op != UNSET && hook_attrs_parse_events(c, &words, e) < 0)
        return -1;
    events = c->op == INCR ? s->events | words : c->op == DECR ? s->events & ~words : words;
    if (hook_attrs_check_provision(t, events, e) < 0 || hook_attrs_check_served(words, e) < 0)
        return -1;
    s->events = events;
    if (!(events & USER_EVENTS))
        s->pbsuser = false;
    if (!(events & OFFLINE_EVENTS))
        s->fail_action = HOOK_FAIL_NONE;
    if (c->op != INCR && !(events & HOOK_EVENT_exechost_periodic))
        s->freq_s = hook_settings_default().freq_s;
    return 0;
}

static int hook_attrs_set_order(const struct hook_attrs_target *t, const struct hook_attr_change *c,
                                struct err *e)
{
    const int lowest = t->set->of_pbs ? PBS_LOWEST : SITE_LOWEST,
              highest = t->set->of_pbs ? PBS_HIGHEST : SITE_HIGHEST;
    char *end;
    long n = strtol(c->value, &end, 10);

    if (c->op == UNSET)
        n = hook_settings_default().order;
    else if (!*c->value || *end || n < lowest || n > highest)
        return err_set(e, PBSE_HOOKERROR,
                       "order given (%s) is outside the acceptable range of [%d, %d] for type '%s'.",
                       c->value, lowest, highest, t->set->of_pbs ? "pbs" : "site");
    t->set->order = (int)n;
    return 0;
}

static int hook_attrs_parse_seconds(const char *what, const char *text, int64_t *out, struct err *e)
{
    const char *bad = text + (*text == '-');
    char *end;
    long long n;

    bad += strspn(bad, "0123456789");
    if (*bad || !*text)
        return err_set(e, PBSE_HOOKERROR, "set_hook_%s: encountered a non-digit %s value: %c", what, what,
                       *bad ? *bad : ' ');
    n = strtoll(text, &end, 10);
    if (n <= 0 || n > INT_MAX)
        return err_set(e, PBSE_HOOKERROR, "set_hook_%s: %s value '%s' of a hook must be > 0", what, what,
                       text);
    *out = n;
    return 0;
}

static int hook_attrs_set_alarm(const struct hook_attrs_target *t, const struct hook_attr_change *c,
                                struct err *e)
{
    if (c->op != UNSET)
        return hook_attrs_parse_seconds("alarm", c->value, &t->set->alarm_s, e);
    t->set->alarm_s = hook_settings_default().alarm_s;
    return 0;
}

static int hook_attrs_set_freq(const struct hook_attrs_target *t, const struct hook_attr_change *c,
                               struct err *e)
{
    int64_t n = hook_settings_default().freq_s;

    if (c->op != UNSET && hook_attrs_parse_seconds("freq", c->value, &n, e) < 0)
        return -1;
    if (c->op != UNSET && !(t->set->events & FREQ_EVENTS))
        return err_set(e, PBSE_HOOKERROR,
                       "set_hook_freq: Can't set hook freq value: hook event must contain at "
                       "least'exechost_periodic' or 'periodic'");
    t->set->freq_s = n;
    return 0;
}

static int hook_attrs_set_user(const struct hook_attrs_target *t, const struct hook_attr_change *c,
                               struct err *e)
{
    bool pbsuser = c->op != UNSET && strcmp(c->value, "pbsuser") == 0;

    if (c->op != UNSET && !pbsuser && strcmp(c->value, "pbsadmin") != 0)
        return err_set(e, PBSE_HOOKERROR, "user value of a hook must be pbsadmin,pbsuser");
    if (pbsuser && t->set->events & HOOK_EVENT_periodic)
        return err_set(e, PBSE_HOOKERROR, "user value of a server periodic hook must be pbsadmin");
    if (pbsuser && !(t->set->events & USER_EVENTS))
        return err_set(e, PBSE_HOOKERROR,
                       "Can't set hook user value to 'pbsuser': hook event must contain at least "
                       "execjob_prologue,execjob_epilogue,execjob_preterm");
    t->set->pbsuser = pbsuser;
    return 0;
}

static const struct {
    const char *word;
    unsigned bit;
    uint32_t events; /* one of them is needed */
    const char *need;
} hook_attrs_actions[] = {
    {"offline_vnodes", HOOK_FAIL_OFFLINE, OFFLINE_EVENTS,
     "at least one of execjob_begin, exechost_startup, execjob_prologue"},
    {"clear_vnodes_upon_recovery", HOOK_FAIL_CLEAR, HOOK_EVENT_exechost_startup,
     "at least an exechost_startup value"},
    {"scheduler_restart_cycle", HOOK_FAIL_RESTART, RESTART_EVENTS,
     "at least one of execjob_begin, execjob_prologue"},
};
enum { N_ACTIONS = sizeof hook_attrs_actions / sizeof hook_attrs_actions[0] };

static int hook_attrs_parse_action(const struct hook_attrs_target *t, const char *word, size_t n,
                                   unsigned *bits, struct err *e)
{
    for (size_t i = 0; i < N_ACTIONS; i++) {
        if (strlen(hook_attrs_actions[i].word) != n || strncmp(hook_attrs_actions[i].word, word, n) != 0)
            continue;
        if (!(t->set->events & hook_attrs_actions[i].events))
            return err_set(e, PBSE_HOOKERROR,
                           "Can't set hook fail_action value to '%.*s': hook event must contain %s", (int)n,
                           word, hook_attrs_actions[i].need);
        *bits |= hook_attrs_actions[i].bit;
        return 0;
    }
    return err_set(e, PBSE_HOOKERROR,
                   "fail_action value of a hook must be \"none\" or one or more of "
                   "\"offline_vnodes\",\"clear_vnodes_upon_recovery\", \"scheduler_restart_cycle\"");
}

static int hook_attrs_set_fail_action(const struct hook_attrs_target *t, const struct hook_attr_change *c,
                                      struct err *e)
{
    const char *at = c->op == UNSET ? "none" : c->value;
    unsigned bits = 0;

    if (strcmp(at, "none") != 0)
        while (*at) {
            size_t n = strcspn(at, ",");

            if (hook_attrs_parse_action(t, at, n, &bits, e) < 0)
                return -1;
            at += n + (at[n] == ',');
        }
    t->set->fail_action = c->op == INCR   ? t->set->fail_action | bits
                          : c->op == DECR ? t->set->fail_action & ~bits
                                          : bits;
    return 0;
}

/* ---- values to texts --------------------------------------------------------------------------------- */

static void hook_attrs_show_type(const struct hook_settings *s, struct strbuf *out)
{
    strbuf_add(out, s->of_pbs ? "pbs" : "site");
}

static void hook_attrs_show_enabled(const struct hook_settings *s, struct strbuf *out)
{
    strbuf_add(out, s->enabled ? "true" : "false");
}

static void hook_attrs_show_event(const struct hook_settings *s, struct strbuf *out)
{
    hook_events_format(s->events, out);
    if (!s->events)
        strbuf_add(out, "\"\"");
}

static void hook_attrs_show_user(const struct hook_settings *s, struct strbuf *out)
{
    strbuf_add(out, s->pbsuser ? "pbsuser" : "pbsadmin");
}

static void hook_attrs_show_alarm(const struct hook_settings *s, struct strbuf *out)
{
    strbuf_addf(out, "%lld", (long long)s->alarm_s);
}

static void hook_attrs_show_freq(const struct hook_settings *s, struct strbuf *out)
{
    strbuf_addf(out, "%lld", (long long)s->freq_s);
}

static void hook_attrs_show_order(const struct hook_settings *s, struct strbuf *out)
{
    strbuf_addf(out, "%d", s->order);
}

static void hook_attrs_show_debug(const struct hook_settings *s, struct strbuf *out)
{
    strbuf_add(out, s->debug ? "true" : "false");
}

static void hook_attrs_show_fail_action(const struct hook_settings *s, struct strbuf *out)
{
    const char *sep = "";

    for (size_t i = 0; i < N_ACTIONS; i++)
        if (s->fail_action & hook_attrs_actions[i].bit) {
            strbuf_addf(out, "%s%s", sep, hook_attrs_actions[i].word);
            sep = ",";
        }
    if (!s->fail_action)
        strbuf_add(out, "none");
}

/* ---- the rows, in the order in which they are shown -------------------------------------------------- */

static const struct hook_attrs_row {
    const char *name;
    bool is_list; /* += and -= have a meaning */
    bool last;    /* applied after the others */
    hook_attrs_set_fn *set;
    hook_attrs_show_fn *show;
} hook_attrs_rows[] = {
    {"type", false, false, hook_attrs_set_type, hook_attrs_show_type},
    {"enabled", false, false, hook_attrs_set_enabled, hook_attrs_show_enabled},
    {"event", true, false, hook_attrs_set_event, hook_attrs_show_event},
    {"user", false, true, hook_attrs_set_user, hook_attrs_show_user},
    {"alarm", false, false, hook_attrs_set_alarm, hook_attrs_show_alarm},
    {"freq", false, true, hook_attrs_set_freq, hook_attrs_show_freq},
    {"order", false, false, hook_attrs_set_order, hook_attrs_show_order},
    {"debug", false, false, hook_attrs_set_debug, hook_attrs_show_debug},
    {"fail_action", true, true, hook_attrs_set_fail_action, hook_attrs_show_fail_action},
};
enum { N_ROWS = sizeof hook_attrs_rows / sizeof hook_attrs_rows[0] };

static const struct hook_attrs_row *hook_attrs_find(const char *name)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (strcasecmp(hook_attrs_rows[i].name, name) == 0)
            return &hook_attrs_rows[i];
    return NULL;
}

static int hook_attrs_change(const struct hook_attrs_target *t, const struct hook_attr_change *c, bool last,
                             struct err *e)
{
    const struct hook_attrs_row *row = hook_attrs_find(c->name);

    if (!row)
        return err_set(e, PBSE_HOOKERROR, "Undefined attribute  - %s", c->name);
    if (row->last != last)
        return 0;
    if ((c->op == INCR || c->op == DECR) && !row->is_list)
        return err_set(e, PBSE_HOOKERROR, "'%s' operator not =", row->name);
    return row->set(t, c, e);
}

int hook_attrs_apply(const struct hooks *t, const char *name, struct hook_settings *set,
                     const struct hook_attr_change *c, size_t n, struct err *e)
{
    struct hook_settings now = *set;
    const struct hook_attrs_target target = {t, name, &now};

    for (int last = 0; last < 2; last++)
        for (size_t i = 0; i < n; i++)
            if (hook_attrs_change(&target, &c[i], last, e) < 0)
                return -1;
    *set = now;
    return 0;
}

static bool hook_attrs_is_shown(const struct hook_attrs_row *row, const struct hook *h)
{
    return row->set != hook_attrs_set_freq || h->set.events & FREQ_EVENTS;
}

int hook_attrs_walk(const struct hook *h, hook_attrs_fn *fn, void *arg)
{
    struct strbuf text;
    int rc = 0;

    strbuf_init(&text, TEXT_MAX);
    for (size_t i = 0; i < N_ROWS && rc == 0; i++) {
        if (!hook_attrs_is_shown(&hook_attrs_rows[i], h))
            continue;
        strbuf_reset(&text);
        hook_attrs_rows[i].show(&h->set, &text);
        rc = fn(arg, hook_attrs_rows[i].name, strbuf_str(&text));
    }
    strbuf_fini(&text);
    return rc;
}

void hook_attrs_format_control(const struct hook *h, struct strbuf *out)
{
    const struct hook_settings dflt = hook_settings_default();
    struct strbuf is, was;

    strbuf_init(&is, TEXT_MAX);
    strbuf_init(&was, TEXT_MAX);
    strbuf_addf(out, "hook_name=%s\n", h->name);
    for (size_t i = 0; i < N_ROWS; i++) {
        strbuf_reset(&is);
        strbuf_reset(&was);
        hook_attrs_rows[i].show(&h->set, &is);
        hook_attrs_rows[i].show(&dflt, &was);
        if (strcmp(strbuf_str(&is), strbuf_str(&was)) != 0)
            strbuf_addf(out, "%s=%s\n", hook_attrs_rows[i].name, strbuf_str(&is));
    }
    strbuf_fini(&is);
    strbuf_fini(&was);
}
