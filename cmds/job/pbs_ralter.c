/* pbs_ralter: change a reservation, and print what became of that. */
#include <stdlib.h>
#include <string.h>

#include "api_error.h"
#include "conn_pool.h"
#include "operand.h"
#include "resv_options.h"

struct ralter {
    struct resv_options o;
    bool force;
};

/* Of -l only select, of -W only force, of -I only a time to wait. */
static int pbs_ralter_take(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    struct ralter *q = settings;

    if (row->letter == 'W' && strcmp(value, "force") != 0)
        return cmd_bad_value(&q->o.a, row);
    if (row->letter == 'W') {
        q->force = true;
        return 0;
    }
    if (row->letter == 'I' && strtol(value, NULL, 10) <= 0) {
        q->o.a.errors++;
        cmd_error(&q->o.a, "illegal -I time value");
        return 0;
    }
    if (row->letter == 'l' && strncmp(value, "select=", strlen("select=")) != 0) {
        q->o.a.errors++;
        fputs("pbs_ralter -l only allows for select\n", stderr);
        return 0;
    }
    return resv_options_take(settings, row, value, e);
}

#define RALTER(letter, value, help)                                                                          \
    {                                                                                                        \
        letter, NULL, OPTION_VALUE, value, help, pbs_ralter_take, 0                                          \
    }

static const struct option_row rows[] = {
    RALTER('R', "start", "it begins then: [[[[CC]YY]MM]DD]hhmm[.SS]"),
    RALTER('E', "end", "it ends then"),
    RALTER('D', "duration", "how long it lasts: seconds or [[hh:]mm:]ss"),
    RALTER('l', "select=select", "a part of what it has"),
    RALTER('I', "seconds", "wait for the decision so long"),
    RALTER('N', "name", "its name"),
    RALTER('m', "mail_points", "when to mail: letters of a, b, c, e; or n"),
    RALTER('M', "user_list", "whom to mail"),
    RALTER('U', "acl_list", "who may use it: [+|-]user[@host],..."),
    RALTER('G', "acl_list", "which groups may use it: [+|-]group,..."),
    RALTER('q', "@server", "the server to ask"),
    RALTER('W', "force", "whatever schedulers say"),
};

static int pbs_ralter_one(struct ralter *q, int c, const char *id)
{
    char full[OPERAND_RESV_MAX];
    char *text;

    if (operand_resv(&q->o.a, id, full) < 0)
        return 1;
    text = pbs_modify_resv(c, full, q->o.attrs.first, q->force ? "force" : NULL);

    if (!text)
        return api_error_report(&q->o.a, c, "");
    printf("pbs_ralter: %s\n", text);
    free(text);
    return 0;
}

static int pbs_ralter_run(void *settings, int n, char *operands[])
{
    struct ralter *q = settings;
    struct conn_pool *s;
    int c, rc;

    if (q->force && (!q->o.timed || attrs_find(&q->o.attrs, "Resource_List", "select"))) {
        cmd_error(&q->o.a, "No support for requested service");
        return cmd_usage(&q->o.a);
    }
    if (n != 1 || (!q->o.attrs.first && !q->o.timed))
        return cmd_usage(&q->o.a);
    resv_options_times(&q->o);
    if (q->o.attrs.failed)
        return -cmd_error(&q->o.a, "no memory");
    s = conn_pool_create(&q->o.a);
    c = s ? conn_pool_connect(s, q->o.server) : -1;
    rc = c < 0 ? (s ? pbs_errno : 1) : pbs_ralter_one(q, c, operands[0]);
    conn_pool_destroy(s);
    return rc;
}

static void pbs_ralter_fini(void *settings)
{
    resv_options_fini(&((struct ralter *)settings)->o);
}

const struct cmd command = {
    .options = {.program = "pbs_ralter", .operands = "reservation_identifier", CMD_ROWS(rows)},
    .usage = "usage: pbs_ralter [-I seconds] [-m mail_points] [-M mail_list]\n"
             "                [-N reservation_name] [-R start_time] [-E end_time] [-D duration]\n"
             "                [-U auth_user_list] [-G auth_group_list] [-l select=select]\n"
             "                [-W force] [-q @server] reservation_identifier\n",
    .usage_exit = 2,
    .size = sizeof(struct ralter),
    .run = pbs_ralter_run,
    .fini = pbs_ralter_fini,
};
