/* Directories by the sched object. See places.h.
 *
 * A directory that is refused is named in the object's comment, so that an administrator sees it where the
 * scheduler is shown as down. The comment is taken away again when all is well, unless it is another one. */
#include "places.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pbs_error.h"
#include "pbs_ifl.h"
#include "trusted.h"

static const char failed[] = "PBS failed validation checks for";

void places_init(struct places *p, const char *priv, const char *logs)
{
    (void)snprintf(p->first_priv, sizeof p->first_priv, "%s", priv);
    (void)snprintf(p->first_logs, sizeof p->first_logs, "%s", logs);
    (void)snprintf(p->priv, sizeof p->priv, "%s", priv);
    (void)snprintf(p->logs, sizeof p->logs, "%s", logs);
}

/* In the order in which an administrator would look; the first that is wrong is told. */
static int places_check(const char *what, const char *path, struct err *e)
{
    struct stat st;
    struct err way = {0};
    const char *why = NULL;

    if (*path != '/' || strlen(path) >= PATH_MAX)
        why = "it is not an absolute path";
    else if (stat(path, &st) < 0)
        why = strerror(errno);
    else if (!S_ISDIR(st.st_mode))
        why = "it is not a directory";
    else if (st.st_uid != geteuid())
        why = "it belongs to another user";
    else if (st.st_mode & (S_IWGRP | S_IWOTH))
        why = "others may write to it";
    else if (trusted_directory(path, &way) < 0) /* what is above it decides what it is */
        why = way.text;
    return why ? err_set(e, PBSE_SYSTEM, "%s %s directory %.200s: %s", failed, what, path, why) : 0;
}

static const char *places_value_of(const struct batch_status *b, const char *name)
{
    for (const struct attrl *a = b ? b->attribs : NULL; a; a = a->next)
        if (strcmp(a->name, name) == 0)
            return a->value;
    return NULL;
}

/* People see it in the object. Who has set another comment keeps it. */
static void comment(int c, const char *sched, const char *was, const char *text)
{
    static char name[] = ATTR_comment, nothing[] = "";
    char value[ERR_TEXT_MAX];
    struct attropl a = {.name = name, .resource = nothing, .value = value, .op = SET};

    if (text && was && strcmp(was, text) == 0)
        return;
    if (!text && (!was || strncmp(was, failed, strlen(failed)) != 0))
        return;
    (void)snprintf(value, sizeof value, "%s", text ? text : "");
    (void)pbs_manager(c, text ? MGR_CMD_SET : MGR_CMD_UNSET, MGR_OBJ_SCHED, sched, &a, NULL);
}

static int places_follow(char now[static PATH_MAX], const char *path)
{
    if (strcmp(now, path) == 0)
        return 0;
    (void)snprintf(now, PATH_MAX, "%s", path);
    return 1;
}

/* Both are checked before either is taken. */
static int places_take(struct places *p, const char *priv, const char *logs, struct err *e)
{
    int changed = PLACES_SAME;

    if ((priv && places_check("sched_priv", priv, e) < 0) || (logs && places_check("sched_log", logs, e) < 0))
        return -1;
    if (places_follow(p->priv, priv ? priv : p->first_priv))
        changed |= PLACES_OTHER_PRIV;
    if (places_follow(p->logs, logs ? logs : p->first_logs))
        changed |= PLACES_OTHER_LOGS;
    return changed;
}

int places_ask(struct places *p, int c, const char *sched, struct err *e)
{
    struct batch_status *all = pbs_statsched(c, NULL, "p"), *b = all;
    int rc;

    while (b && strcmp(b->name, sched) != 0)
        b = b->next;
    if (!b) { /* registering will say so */
        pbs_statfree(all);
        return PLACES_SAME;
    }
    rc = places_take(p, places_value_of(b, "sched_priv"), places_value_of(b, "sched_log"), e);
    comment(c, sched, places_value_of(b, "comment"), rc < 0 ? e->text : NULL);
    pbs_statfree(all);
    return rc;
}

bool places_hold(const struct places *p, const char *priv, const char *logs)
{
    return strcmp(p->priv, priv ? priv : p->first_priv) == 0 &&
           strcmp(p->logs, logs ? logs : p->first_logs) == 0;
}
