/* Nothing is kept here. */
#include "config_people.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"
#include "words.h"

enum { SYS_UID_MAX = 999, INUSE_S = 10, POLL_S = 1, DAY_S = 86400, LINE_LEN_MAX = 512 };

int config_people_load(const char *value, double *load, bool *suspends, struct err *e)
{
    char *end;
    const char *rest;
    double v = strtod(value, &end);

    rest = end + strspn(end, " \t");
    if (end == value || !(v >= 0) || (*rest && strcmp(rest, "suspend") != 0))
        return err_set(e, EINVAL, "\"%s\" is not a load: a number from 0, perhaps with \"suspend\" behind it",
                       value);
    *load = v;
    *suspends = *rest != '\0';
    return 0;
}

int config_people_idle(const char *value, int64_t seconds[static 3], struct err *e)
{
    struct words w;
    int rc;

    words_init(&w);
    rc = words_parse(value, " \t", WORDS_QUOTES, &w, e);
    if (rc == 0 && (w.n < 1 || w.n > 3))
        rc = -1;
    seconds[1] = INUSE_S;
    seconds[2] = POLL_S;
    for (size_t i = 0; rc == 0 && i < w.n; i++)
        rc = units_parse_int(w.w[i], i == 1 ? 0 : 1, DAY_S, &seconds[i], NULL);
    words_fini(&w);
    return rc == 0
               ? 0
               : err_set(e, EINVAL,
                         "\"%s\" does not have the form IDLE [INUSE [POLL]], in seconds: 1800 10 1", value);
}

static int user_number(const char *name, unsigned *uid, struct err *e)
{
    int64_t number;
    const struct passwd *p;

    if (units_parse_int(name, 0, UINT32_MAX - 1, &number, NULL) == 0) {
        *uid = (unsigned)number;
        return 0;
    }
    p = getpwnam(name);
    if (!p)
        return err_set(e, EINVAL, "there is no user %s", name);
    *uid = p->pw_uid;
    return 0;
}

int config_people_users(const char *value, unsigned *uids, size_t max, size_t *n, struct err *e)
{
    struct words w;
    int rc;

    words_init(&w);
    rc = words_parse_commas(value, &w, e);
    if (rc == 0 && w.n > max)
        rc = err_set(e, EINVAL, "more than %zu users", max);
    for (size_t i = 0; rc == 0 && i < w.n; i++)
        rc = user_number(w.w[i], &uids[i], e);
    if (rc == 0)
        *n = w.n;
    words_fini(&w);
    return rc;
}

unsigned config_people_maxsysid(void)
{
    FILE *in = fopen("/etc/login.defs", "re");
    char line[LINE_LEN_MAX];
    unsigned found = SYS_UID_MAX, one;

    if (!in)
        return found;
    while (fgets(line, sizeof line, in))
        if (sscanf(line, " SYS_UID_MAX %u", &one) == 1)
            found = one;
    fclose(in);
    return found;
}

int config_people_multinode(const char *value, int64_t *wait_s, struct err *e)
{
    struct words w;
    int rc;

    words_init(&w);
    rc = words_parse(value, " \t", WORDS_QUOTES, &w, e);
    if (rc == 0 && (w.n != 3 || strcmp(w.w[2], "requeue") != 0 ||
                    units_parse_int(w.w[1], 0, INT32_MAX, wait_s, NULL) < 0))
        rc = err_set(e, EINVAL, "\"%s\" does not have the form multinodebusy SECONDS requeue", value);
    words_fini(&w);
    return rc;
}
