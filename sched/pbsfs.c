/* pbsfs: look at and change what has been used of the shares.
 *
 * It works on the scheduler's files alone and in an instant. A running scheduler is not disturbed: who changes the usage
 * file has its lock, the scheduler sees that it was changed, reads it again and adds what it has counted meanwhile. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "conf.h"
#include "accrual_record.h"
#include "fairshare.h"
#include "file.h"
#include "files.h"
#include "options.h"
#include "pbs_ifl.h"
#include "policy.h"
#include "strbuf.h"
#include "usage_file.h"

/* The scheduler holds the lock while it writes the file: LOCK_TRIES pauses are five seconds. */
enum { LOCK_TRIES = 200, LOCK_PAUSE_MS = 25, GROUP_MAX = 1 << 22, TEXT_MAX = 1 << 28, INDENT = 5 };

enum action {
    ACT_PRINT = 'p',
    ACT_TREE = 't',
    ACT_GET = 'g',
    ACT_SET = 's',
    ACT_DECAY = 'd',
    ACT_TRIM = 'e',
    ACT_COMPARE = 'c'
};

struct pbsfs {
    int action, n_actions;
    const char *sched;
    bool version;
    char priv[PATH_MAX];
    struct policy policy;
    struct usage usage;
};

static const char usage_text[] = "Usage: pbsfs -[ptdgcs] [-I sched_name]\n"
                                 "  -p               print all entities\n"
                                 "  -t               print the tree\n"
                                 "  -g ENTITY        one entity, with its path from the root\n"
                                 "  -s ENTITY USAGE  set what it has used\n"
                                 "  -d               let all usage decay now\n"
                                 "  -e               forget entities that are not in resource_group\n"
                                 "  -c E1 E2         which of two goes first\n"
                                 "  -I NAME          files of another scheduler than the default one\n";

static int pbsfs_take_action(void *context, const struct option_row *row, const char *value, struct err *e)
{
    struct pbsfs *x = context;

    x->action = row->id;
    x->n_actions++;
    return 0;
}

static int pbsfs_take_sched(void *context, const struct option_row *row, const char *value, struct err *e)
{
    ((struct pbsfs *)context)->sched = value;
    return 0;
}

static int pbsfs_take_version(void *context, const struct option_row *row, const char *value, struct err *e)
{
    ((struct pbsfs *)context)->version = true;
    return 0;
}

static const struct option_row rows[] = {
    {'p', NULL, OPTION_ALONE, NULL, "print all entities", pbsfs_take_action, ACT_PRINT},
    {'t', NULL, OPTION_ALONE, NULL, "print the tree", pbsfs_take_action, ACT_TREE},
    {'g', NULL, OPTION_ALONE, NULL, "one entity (operand), with its path", pbsfs_take_action, ACT_GET},
    {'s', NULL, OPTION_ALONE, NULL, "set the usage of an entity (two operands)", pbsfs_take_action, ACT_SET},
    {'d', NULL, OPTION_ALONE, NULL, "let all usage decay now", pbsfs_take_action, ACT_DECAY},
    {'e', NULL, OPTION_ALONE, NULL, "forget entities that are not in resource_group", pbsfs_take_action,
     ACT_TRIM},
    {'c', NULL, OPTION_ALONE, NULL, "which of two entities goes first", pbsfs_take_action, ACT_COMPARE},
    {'I', NULL, OPTION_VALUE, "sched_name", "another scheduler than the default one", pbsfs_take_sched, 0},
    {0, "version", OPTION_ALONE, NULL, "print the version", pbsfs_take_version, 0},
};

static const struct options options = {.program = "pbsfs",
                                       .operands = "[ENTITY [USAGE|ENTITY]]",
                                       .rows = rows,
                                       .n_rows = sizeof rows / sizeof *rows,
                                       .order = OPTIONS_ANYWHERE};

/* --- showing ----------------------------------------------------------------------------------------- */

static const char *unit(const struct pbsfs *x)
{
    return x->policy.share_usage ? x->policy.share_usage : "cput";
}

static long long shown_shares(const struct share *s)
{
    return fairshare_group(s) ? (long long)fairshare_shares(s) : -1;
}

static int print_all(struct pbsfs *x)
{
    printf("Fairshare usage units are in: %s\n", unit(x));
    for (struct share *s = fairshare_next(x->usage.shares, NULL); s; s = fairshare_next(x->usage.shares, s))
        printf("%-10s: Grp: %-5d  cgrp: %-5dShares: %-6lld Usage: %-6.0f Perc: %6.3f%%\n", fairshare_name(s),
               fairshare_group_number(s), fairshare_number(s), shown_shares(s), fairshare_usage(s),
               fairshare_fraction(s) * 100);
    return 0;
}

static int print_tree(struct pbsfs *x)
{
    for (struct share *s = fairshare_next(x->usage.shares, NULL); s; s = fairshare_next(x->usage.shares, s))
        printf("%*s%s(%d)\n", fairshare_depth(s) * INDENT, "", fairshare_name(s), fairshare_number(s));
    return 0;
}

/* What the order of entities follows, smallest first. */
static double quotient(const struct share *s)
{
    return fairshare_fraction(s) > 0 ? fairshare_usage(s) / fairshare_fraction(s) : 0;
}

static void print_path(const struct share *s)
{
    if (fairshare_group(s))
        print_path(fairshare_group(s));
    printf("%-10s: %5d %10.0f / %5.3f = %.0f\n", fairshare_name(s), fairshare_number(s), fairshare_usage(s),
           fairshare_fraction(s), quotient(s));
}

static int print_one(struct pbsfs *x, const struct share *s)
{
    printf("fairshare entity: %s\n", fairshare_name(s));
    printf("Resgroup\t\t: %d\n", fairshare_group_number(s));
    printf("cresgroup\t\t: %d\n", fairshare_number(s));
    printf("Shares\t\t\t: %lld\n", shown_shares(s));
    printf("Percentage\t\t: %.6f%%\n", fairshare_fraction(s) * 100);
    printf("fairshare_tree_usage\t: %.6f\n", fairshare_tree_usage(s));
    printf("usage\t\t\t: %.0f (%s)\n", fairshare_usage(s), unit(x));
    printf("usage/perc\t\t: %.0f\n", quotient(s));
    printf("Path from root: \n");
    print_path(s);
    return 0;
}

static int compare(const struct share *a, const struct share *b)
{
    int c = fairshare_compare(a, b);

    if (c == 0)
        printf("%s == %s\n", fairshare_name(a), fairshare_name(b));
    else
        printf("%s\n", fairshare_name(c < 0 ? a : b));
    return 0;
}

/* --- files ------------------------------------------------------------------------------------------- */

static int pbsfs_fail(const struct err *e)
{
    fprintf(stderr, "pbsfs: %s\n", e->text);
    return 1;
}

/* Where the server says that another scheduler's files are; "" when it does not, or does not answer. */
static void ask_priv(const char *sched, char out[static PATH_MAX])
{
    int c = pbs_connect(NULL);
    struct batch_status *all = c < 0 ? NULL : pbs_statsched(c, NULL, "p");

    out[0] = '\0';
    for (const struct batch_status *b = all; b; b = b->next)
        for (const struct attrl *a = b->attribs; strcmp(b->name, sched) == 0 && a; a = a->next)
            if (strcmp(a->name, "sched_priv") == 0)
                (void)snprintf(out, PATH_MAX, "%s", a->value);
    pbs_statfree(all);
    if (c >= 0)
        pbs_disconnect(c);
}

static int find_priv(struct pbsfs *x, struct err *e)
{
    struct conf *conf = conf_load(e);
    bool other = x->sched && strcmp(x->sched, "default") != 0;

    if (!conf)
        return -1;
    if (other)
        ask_priv(x->sched, x->priv);
    if (!x->priv[0])
        (void)snprintf(x->priv, sizeof x->priv, "%s/sched_priv%s%s", conf_text(conf, CONF_PBS_HOME),
                       other ? "_" : "", other ? x->sched : "");
    conf_destroy(conf);
    return access(x->priv, X_OK) == 0 ? 0 : err_errno(e, errno, "%s", x->priv);
}

static int read_all(struct pbsfs *x, struct err *e)
{
    char path[PATH_MAX + 32], *text = NULL;
    int rc;

    (void)snprintf(path, sizeof path, "%s/sched_config", x->priv);
    if (access(path, R_OK) < 0)
        return err_errno(e, errno, "%s", path);
    if (files_read_config(path, &x->policy, &files_log, e) < 0)
        return -1;
    (void)snprintf(path, sizeof path, "%s/resource_group", x->priv);
    rc = access(path, F_OK) < 0 ? 0 : file_read(AT_FDCWD, path, GROUP_MAX, &text, NULL, e);
    if (rc == 0)
        rc = fairshare_plant(x->usage.shares, text ? text : "", x->policy.unknown_shares, e);
    free(text);
    return rc < 0 ? -1 : usage_file_read(x->priv, &x->usage, e);
}

static int get_lock(const struct pbsfs *x, struct err *e)
{
    int lock = -1;

    for (int i = 0; i < LOCK_TRIES; i++) {
        lock = usage_file_lock(x->priv, e);
        if (lock >= 0 || e->code != EWOULDBLOCK)
            break;
        (void)poll(NULL, 0, LOCK_PAUSE_MS);
    }
    return lock;
}

static int write_all(const struct pbsfs *x, struct err *e)
{
    struct strbuf text;
    int rc;

    strbuf_init(&text, TEXT_MAX);
    usage_file_format(&x->usage, &text);
    rc = strbuf_ok(&text) ? 0 : err_set(e, ENOMEM, "no memory for %s/usage", x->priv);
    if (rc == 0)
        rc = usage_file_keep(x->priv, e);
    if (rc == 0)
        rc = usage_file_write(x->priv, text.s, text.len, e);
    if (rc == 0)
        rc = usage_file_touch(x->priv, e);
    strbuf_fini(&text);
    return rc;
}

/* --- actions ----------------------------------------------------------------------------------------- */

static struct share *need(struct pbsfs *x, const char *name)
{
    struct share *s = fairshare_find(x->usage.shares, name);

    if (!s)
        fprintf(stderr, "Fairshare Entity %s does not exist.\n", name);
    return s;
}

static int set_usage(struct pbsfs *x, const char *name, const char *value)
{
    char *end;
    double usage = strtod(value, &end);
    struct share *s = need(x, name);

    if (!s)
        return 1;
    if (end == value || *end || !(usage >= 0) || usage > 1e300) {
        fprintf(stderr, "pbsfs: %s is not a usage: it is a number of 0 or more\n", value);
        return 1;
    }
    if (!fairshare_is_leaf(s)) {
        fprintf(stderr, "pbsfs: %s is a group: it has used what its members have\n", name);
        return 1;
    }
    fairshare_set(s, usage);
    return 0;
}

/* Read, change and write under the lock, so that no usage of the scheduler's is lost in between. */
static int pbsfs_change(struct pbsfs *x, char *operands[])
{
    struct err e;
    int lock = get_lock(x, &e), rc = 0;

    if (lock < 0 || read_all(x, &e) < 0) {
        if (lock >= 0)
            (void)close(lock);
        return pbsfs_fail(&e);
    }
    if (x->action == ACT_SET)
        rc = set_usage(x, operands[0], operands[1]);
    else if (x->action == ACT_TRIM)
        fairshare_trim(x->usage.shares);
    else {
        fairshare_decay(x->usage.shares, x->policy.share_decay);
        x->usage.decayed_s = time(NULL);
    }
    if (rc == 0 && write_all(x, &e) < 0)
        rc = pbsfs_fail(&e);
    (void)close(lock);
    return rc;
}

static int pbsfs_show(struct pbsfs *x, char *operands[])
{
    struct share *a, *b;
    struct err e;

    if (read_all(x, &e) < 0)
        return pbsfs_fail(&e);
    if (x->action == ACT_PRINT)
        return print_all(x);
    if (x->action == ACT_TREE)
        return print_tree(x);
    a = need(x, operands[0]);
    if (x->action == ACT_GET)
        return a ? print_one(x, a) : 1;
    b = need(x, operands[1]);
    return a && b ? compare(a, b) : 1;
}

static int n_operands(int action)
{
    return action == ACT_GET ? 1 : action == ACT_SET || action == ACT_COMPARE ? 2 : 0;
}

static int pbsfs_run(struct pbsfs *x, char *operands[])
{
    struct err e;
    int rc;

    if (find_priv(x, &e) < 0)
        return pbsfs_fail(&e);
    policy_init(&x->policy);
    x->usage = (struct usage){.shares = fairshare_create(), .counted = accrual_record_create()};
    rc = x->action == ACT_SET || x->action == ACT_DECAY || x->action == ACT_TRIM ? pbsfs_change(x, operands)
                                                                                 : pbsfs_show(x, operands);
    accrual_record_destroy(x->usage.counted);
    fairshare_destroy(x->usage.shares);
    policy_fini(&x->policy);
    return rc;
}

static int help(void)
{
    struct strbuf text;

    strbuf_init(&text, 1 << 16);
    options_usage(&options, &text);
    fputs(strbuf_str(&text), stdout);
    strbuf_fini(&text);
    return 0;
}

static int version(void)
{
    return conf_print_version();
}

int main(int argc, char *argv[])
{
    struct pbsfs x = {.action = ACT_PRINT};
    struct err e;
    int first;

    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return help();
    if (argc == 2 && strcasecmp(argv[1], "--version") == 0)
        return version();
    if (options_parse(&options, argc, argv, &first, &x, &e) < 0) {
        fprintf(stderr, "pbsfs: %s\n%s", e.text, usage_text);
        return 1;
    }
    if (x.version)
        return version();
    if (x.n_actions > 1 || argc - first != n_operands(x.action)) {
        fputs(usage_text, stderr);
        return 1;
    }
    return pbsfs_run(&x, argv + first);
}
