/* printjob: show what the server keeps of a job, field by field, to find a fault. Live jobs and history alike; -s
 * prints the script instead. A file of a job below mom_priv/jobs may be named for the job: the command does not read
 * it, only its name. */
#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "attrs.h"
#include "each_job.h"
#include "pbs_error.h"
#include "pbs_ext.h"
#include "conn_pool.h"
#include "status_out.h"
#include "term_out.h"

struct printjob {
    struct cmd_args a;
    bool no_attributes, script;
};

static const struct option_row rows[] = {
    CMD_FLAG('a', struct printjob, no_attributes, "without the attributes"),
    CMD_FLAG('s', struct printjob, script, "the job's script"),
};

/* State numbers of PBS, by letter. */
static int state_number(const char *letter)
{
    static const struct {
        char letter;
        int number;
    } numbers[] = {{'T', 0}, {'Q', 1}, {'H', 2}, {'W', 3}, {'R', 4}, {'S', 4},
                   {'U', 4}, {'E', 5}, {'X', 6}, {'B', 7}, {'M', 8}, {'F', 9}};

    for (size_t i = 0; letter && i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i].letter == *letter)
            return numbers[i].number;
    return 0;
}

static const char *or_none(const struct attrl *l, const char *name, const char *none)
{
    const char *text = attrs_value(l, name, NULL);

    return text ? text : none;
}

static void show_fields(const struct batch_status *j)
{
    const struct attrl *l = j->attribs;
    const char *state = attrs_value(l, ATTR_state, NULL);
    int substate = atoi(or_none(l, ATTR_substate, "0"));

    printf("---------------------------------------------------\njobid:\t%s\n"
           "---------------------------------------------------\n",
           j->name);
    printf("state:\t\t0x%x\nsubstate:\t0x%x (%d)\n", (unsigned)state_number(state), (unsigned)substate,
           substate);
    printf("svrflgs:\t0x%x\n", state && *state == 'S' ? 1U : 0U);
    printf("stime:\t\t%s\nobittime:\t%s\n", or_none(l, ATTR_stime, "0"), or_none(l, ATTR_obittime, "0"));
    printf("file base:\t%s\nqueue:\t\t%s\n", or_none(l, ATTR_hashname, j->name), or_none(l, ATTR_queue, ""));
    printf("union type %s\n\texec_vnode:\t%s\n",
           attrs_value(l, ATTR_execvnode, NULL) ? "exec:" : "new:", or_none(l, ATTR_execvnode, "(none)"));
}

static void show_attributes(const struct batch_status *j)
{
    char *scratch = malloc(STATUS_SCRATCH);

    puts("--attributes--");
    for (const struct attrl *a = j->attribs; scratch && a; a = a->next) {
        printf("%s%s%s = ", a->name, a->resource && *a->resource ? "." : "", a->resource ? a->resource : "");
        term_out_text(stdout, status_out_value(a, scratch));
        putchar('\n');
    }
    free(scratch);
}

static int show_script(int c, const char *id)
{
    printf("---------------------------------------------------\njobscript for %s\n"
           "---------------------------------------------------\n",
           id);
    fflush(stdout);
    return pbs_jobscript(c, id, STDOUT_FILENO, NULL);
}

static int printjob_job_cb(int c, const char *id, void *settings)
{
    const struct printjob *q = settings;
    struct batch_status *j;

    if (q->script)
        return show_script(c, id);
    j = pbs_statjob(c, id, NULL, "x");
    if (!j && pbs_errno == PBSE_JOBHISTNOTSET) /* no history is kept, but the job may exist */
        j = pbs_statjob(c, id, NULL, NULL);
    if (!j)
        return -1;
    show_fields(j);
    if (!q->no_attributes)
        show_attributes(j);
    pbs_statfree(j);
    return 0;
}

/* Return true for the last part of a file's name that is not part of a job's: .SC, .JB, or the number of the run. */
static bool is_of_file(const char *part)
{
    static const char *const known[] = {".JB", ".SC", ".TK", ".CR", ".XP", ".BD", ".RM"};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!strcmp(part, known[i]))
            return true;
    return part[1] && strspn(part + 1, "0123456789") == strlen(part + 1);
}

/* Return the job whose file this is: "/x/mom_priv/jobs/41.svr1.2/41.svr1.SC" is 41.svr1. Changes the text in place. */
static char *printjob_job_of(char *operand)
{
    char *slash, *dot;

    while ((slash = strrchr(operand, '/'))) {
        if (isdigit((unsigned char)slash[1])) {
            operand = slash + 1;
            break;
        }
        if (slash == operand)
            return operand;
        *slash = '\0';
    }
    if (!slash)
        return operand;
    while ((dot = strrchr(operand, '.')) && is_of_file(dot))
        *dot = '\0';
    return operand;
}

static int printjob_run(void *settings, int n, char *operands[])
{
    struct printjob *q = settings;

    for (int i = 0; i < n; i++)
        operands[i] = printjob_job_of(operands[i]);
    return n ? each_job_found(&q->a, n, operands, printjob_job_cb, q) : cmd_usage(&q->a);
}

const struct cmd command = {
    .options = {.program = "printjob", .operands = "job_identifier|file...", CMD_ROWS(rows)},
    .usage = "usage: printjob [-a] job_identifier|file...\n       printjob -s job_identifier...\n",
    .usage_exit = 1,
    .size = sizeof(struct printjob),
    .run = printjob_run,
};
