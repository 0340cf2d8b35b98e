/* The scheduler's files through the scheduler's own readers, without a lock, a log or a server. See
 * check.h. */
#include "check.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "fairshare.h"
#include "file.h"
#include "files.h"
#include "policy.h"
#include "prime_calendar.h"
#include "settings.h"

enum { FILE_MAX = 16 << 20 };

struct check {
    const char *config, *priv;
    FILE *errors;
    size_t n;
    const char *file; /* that is being looked at */
};

static void check_fault(void *arg, const char *text)
{
    struct check *k = arg;

    fprintf(k->errors, "%s/%s: %s\n", k->priv, k->file, text);
    k->n++;
}

static void check_line_fault(void *arg, const char *text)
{
    struct check *k = arg;

    fprintf(k->errors, "%s: %s\n", k->config, text);
    k->n++;
}

/* NULL: it is not there, or cannot be read (said). */
static char *check_text_of(struct check *k, const char *name)
{
    char path[PATH_MAX], *text = NULL;
    struct err e;

    k->file = name;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", k->priv, name) >= sizeof path || access(path, F_OK) < 0)
        return NULL;
    if (file_read(AT_FDCWD, path, FILE_MAX, &text, NULL, &e) < 0)
        check_fault(k, e.text);
    return text;
}

static void check_times(struct check *k)
{
    struct prime_calendar *p = prime_calendar_create();
    char *text = check_text_of(k, "holidays");
    struct err e;

    prime_calendar_read_holidays(p, text, (int64_t)time(NULL), check_fault, k);
    free(text);
    text = check_text_of(k, "dedicated_time");
    if (prime_calendar_read_dedicated(p, text, &e) < 0)
        check_fault(k, e.text);
    free(text);
    prime_calendar_destroy(p);
}

static void check_shares(struct check *k, const struct policy *p)
{
    struct fairshare *f = fairshare_create();
    char *text = check_text_of(k, "resource_group");
    struct err e;

    if (text && fairshare_plant(f, text, p->unknown_shares, &e) < 0)
        check_fault(k, e.text);
    free(text);
    fairshare_destroy(f);
}

size_t check_files(const char *config, const char *priv, FILE *errors)
{
    struct check k = {.config = config, .priv = priv, .errors = errors};
    const struct files_listener to = {.say = check_line_fault, .arg = &k};
    struct policy p;
    struct err e;

    policy_init(&p);
    if (access(config, F_OK) == 0 && files_read_config(config, &p, &to, &e) < 0) {
        fprintf(errors, "%s\n", e.text);
        k.n++;
    }
    check_times(&k);
    check_shares(&k, &p);
    policy_fini(&p);
    return k.n;
}
