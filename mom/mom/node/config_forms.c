/* Forms of values in mom_priv/config. See config_forms.h. */
#include "config_forms.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "units.h"

int config_form_mask(const char *value, unsigned *out, struct err *e)
{
    char *end;
    unsigned long v = strtoul(value, &end, 0);

    if (end == value || *end || v > 0xffffffff)
        return err_set(e, EINVAL, "\"%s\" is not a mask: decimal, 0x hexadecimal or 0 octal", value);
    *out = (unsigned)v;
    return 0;
}

const char *config_form_event(enum config_event ev)
{
    static const char *const names[] = {"terminate", "checkpoint", "checkpoint_abort", "restart"};

    _Static_assert(sizeof names / sizeof names[0] == ACTION_COUNT, "a name for each event");
    return names[ev];
}

int config_form_signal(const char *text, struct err *e)
{
    int64_t n;
    const char *name = strncasecmp(text, "SIG", 3) == 0 ? text + 3 : text;

    if (units_parse_int(text, 0, SIGRTMAX, &n, NULL) == 0)
        return (int)n;
    if (strcasecmp(name, "NULL") == 0)
        return 0;
    for (int s = 1; s < NSIG; s++) {
        const char *known = sigabbrev_np(s);

        if (known && strcasecmp(known, name) == 0)
            return s;
    }
    return err_set(e, EINVAL, "\"%s\" is not a signal", text);
}

int config_form_words(const char *value, struct words *w, struct err *e)
{
    words_init(w);
    return words_parse(value, " \t", WORDS_QUOTES, w, e);
}

int config_form_action(const char *value, struct config_action *out, struct err *e)
{
    struct words w;
    int event = -1;

    words_init(&w);
    if (words_parse(value, " \t", WORDS_QUOTES, &w, e) < 0)
        goto out;
    for (int i = 0; w.n && i < ACTION_COUNT; i++)
        if (strcmp(w.w[0], config_form_event(i)) == 0)
            event = i;
    if (event < 0) {
        err_set(
            e, EINVAL,
            "\"%s\" begins with no event: terminate, checkpoint, checkpoint_abort, restart, multinodebusy",
            value);
    } else if (w.n < 3 || units_parse_int(w.w[1], 0, INT32_MAX, &out->limit_s, NULL) < 0 ||
               w.w[2][0] != '!' || w.w[2][1] != '/') {
        event = err_set(e, EINVAL, "\"%s\" does not have the form EVENT SECONDS !/SCRIPT ARGUMENTS", value);
    } else {
        words_add(&out->argv, w.w[2] + 1, NULL);
        for (size_t i = 3; i < w.n; i++)
            words_add(&out->argv, w.w[i], NULL);
    }
out:
    words_fini(&w);
    return event;
}

bool config_form_is_multinode(const char *value)
{
    static const char word[] = "multinodebusy";

    return strncmp(value, word, sizeof word - 1) == 0 && strchr(" \t", value[sizeof word - 1]);
}

int config_form_shared_dir(const char *value, char **dir, bool *shared, struct err *e)
{
    struct words w;
    int rc = config_form_words(value, &w, e);

    if (rc == 0 && (w.n < 1 || w.n > 2 || w.w[0][0] != '/' || (w.n == 2 && strcmp(w.w[1], "shared") != 0)))
        rc = err_set(e, EINVAL, "\"%s\" is not an absolute directory, perhaps with \"shared\" behind it",
                     value);
    if (rc == 0 && dir) {
        *dir = strdup(w.w[0]);
        *shared = w.n == 2;
    }
    words_fini(&w);
    return rc;
}
