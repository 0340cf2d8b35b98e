/* qalter: change the attributes of jobs. An empty value (-l walltime=, -W depend=) unsets one. */
#include "each_job.h"
#include "job_options.h"

struct qalter {
    struct job_options o;
};

static const struct option_row rows[] = {
    JOB_OPTION('a', "date_time", "not before this time: [[[[CC]YY]MM]DD]hhmm[.SS]"),
    JOB_OPTION('A', "account_string", "account"),
    JOB_OPTION('c', "interval", "when to checkpoint: n, s, c, c=minutes, w, w=minutes"),
    JOB_OPTION('e', "path", "where standard error goes: [host:]path"),
    JOB_OPTION('h', "hold_list", "holds: letters of u, o, s, p; or n for none"),
    JOB_OPTION('j', "oe|eo|n", "join output and error"),
    JOB_OPTION('k', "keep", "keep output on the execution host: letters of o, e, d; or n"),
    JOB_OPTION('l', "resource_list", "resources; an empty value takes one back"),
    JOB_OPTION('m', "mail_options", "when to mail: letters of a, b, e, j; or n"),
    JOB_OPTION('M', "user_list", "whom to mail"),
    JOB_OPTION('N', "name", "the job's name"),
    JOB_OPTION('o', "path", "where standard output goes: [host:]path"),
    JOB_OPTION('p', "priority", "-1024 to 1023"),
    JOB_OPTION('P', "project", "project"),
    JOB_OPTION('r', "y|n", "may it be run again from its start?"),
    JOB_OPTION('R', "o|e|oe", "output files to remove when it ends well"),
    JOB_OPTION('S', "path", "shell: path[@host][,path[@host]]"),
    JOB_OPTION('u', "user_list", "who to run as: user[@host],..."),
    JOB_OPTION('W', "otherattributes", "attribute=value[,attribute=value]"),
};

static int qalter_job_cb(int c, const char *id, void *attrs)
{
    return pbs_alterjob(c, id, attrs_attrl(attrs), NULL);
}

static int qalter_run(void *settings, int n, char *operands[])
{
    struct qalter *q = settings;

    if (!n || !q->o.attrs.first)
        return cmd_usage(&q->o.a);
    if (q->o.attrs.failed)
        return -cmd_error(&q->o.a, "no memory");
    return each_job(&q->o.a, n, operands, qalter_job_cb, &q->o.attrs);
}

static void qalter_fini(void *settings)
{
    job_options_fini(&((struct qalter *)settings)->o);
}

const struct cmd command = {
    .options = {.program = "qalter", .operands = "job_identifier...", CMD_ROWS(rows)},
    .usage = "usage: qalter [-a date_time] [-A account_string] [-c interval] [-e path]\n"
             "\t[-h hold_list] [-j y|n] [-k keep] [-l resource_list]\n"
             "\t[-m mail_options] [-M user_list] [-N jobname] [-o path] [-p priority]\n"
             "\t[-r y|n] [-R o|e|oe] [-S path] [-u user_list]\n"
             "\t[-W otherattributes=value...] [-P project_name] job_identifier...\n",
    .usage_exit = 2,
    .size = sizeof(struct qalter),
    .run = qalter_run,
    .fini = qalter_fini,
};
