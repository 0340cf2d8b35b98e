/* See answer_pages.h. */
#include "answer_pages.h"

#include <ctype.h>
#include <string.h>

#include "exit_status.h"
#include "mdoc.h"

enum { TERM_MAX = 512 };

/* --- exit statuses ------------------------------------------------------------------------------------------ */

void answer_pages_exit_status(FILE *f)
{
    char number[16];
    const struct exit_status_row *row;

    mdoc_section(f, "EXIT STATUSES");
    mdoc_list_open(f);
    mdoc_term(f, "0 to 255", NULL);
    mdoc_line(f, "What the job's script ended with.");
    mdoc_term(f, "256 and more", NULL);
    mdoc_line(f, "A signal ended the script: 256 and the signal's number.");
    mdoc_line(
        f, "271 is SIGTERM, as after qdel; 265 is SIGKILL, and also a job that was deleted before it ran.");
    for (size_t i = 0; (row = exit_status_row(i)); i++) {
        snprintf(number, sizeof number, "%d", row->number);
        mdoc_term(f, number, row->again ? "(runs again where it may)" : NULL);
        mdoc_line(f, "%c%s.", toupper((unsigned char)row->meaning[0]), row->meaning + 1);
    }
    mdoc_list_close(f);
    mdoc_line(
        f,
        "After a status that says \"runs again where it may\" the job goes back into its queue, unless it was deleted,");
    mdoc_line(f, "or its script has started and the job is not rerunable (qsub -r n).");
    mdoc_line(f, "After 20 runs that ended so, the job is held.");
    mdoc_section(f, "EXAMPLES");
    mdoc_example(f, "qstat -x -f 41 | grep Exit_status\n"
                    "qselect -x -s F -u $USER | xargs -r qstat -x -f | grep -E 'Job Id|Exit_status'");
}

/* --- states ------------------------------------------------------------------------------------------------- */

void answer_pages_states(FILE *f)
{
    static const struct {
        char letter;
        const char *meaning;
    } states[] = {
#define JOB_STATE(id, number, letter, word, meaning) {letter, meaning},
#define JOB_SUBSTATE(...)
#define NODE_STATE(...)
#define RESV_STATE(...)
#define SERVER_STATE(...)
#include "states.def"
#undef JOB_STATE
#undef JOB_SUBSTATE
    };
    static const struct {
        int number;
        const char *meaning;
    } substates[] = {
#define JOB_STATE(...)
#define JOB_SUBSTATE(id, number, meaning) {number, meaning},
#include "states.def"
#undef JOB_STATE
#undef JOB_SUBSTATE
#undef NODE_STATE
#undef RESV_STATE
#undef SERVER_STATE
    };
    char term[16];

    mdoc_section(f, "STATES");
    mdoc_line(f, "The letter that qstat shows:");
    mdoc_list_open(f);
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        snprintf(term, sizeof term, "%c", states[i].letter);
        mdoc_term(f, term, NULL);
        mdoc_line(f, "%s.", states[i].meaning);
    }
    mdoc_term(f, "S", NULL);
    mdoc_line(f, "suspended: a running job (R) whose processes are stopped.");
    mdoc_list_close(f);
    mdoc_section(f, "SUBSTATES");
    mdoc_line(f, "The number in the attribute substate (qstat -f):");
    mdoc_list_open(f);
    for (size_t i = 0; i < sizeof substates / sizeof substates[0]; i++) {
        snprintf(term, sizeof term, "%d", substates[i].number);
        mdoc_term(f, term, NULL);
        mdoc_line(f, "%s.", substates[i].meaning);
    }
    mdoc_list_close(f);
}

/* --- comments ----------------------------------------------------------------------------------------------- */

/* What there is to say beside the words of a reason, by its name in reason.def; a reason that explains itself has no row. */
static const struct answer_pages_help {
    const char *name, *help;
} help[] = {
    {"REFUSED", "No action is needed."},
    {"QUEUE_NOT_STARTED", "The administrator has stopped the queue: qstart starts it."},
    {"QUEUE_NOT_EXEC", "The job is in a route queue, which has not passed it on."},
    {"SCHEDULING_OFF", "The administrator has stopped the scheduler: set sched default scheduling = True."},
    {"TOP_JOB",
     "The job would last into the time at which a job before it is to start. A shorter walltime may help."},
    {"CONFLICT",
     "The job would last into time that is promised to another one. A shorter walltime may help."},
    {"RESERVATION", "The job would last into a reservation. A shorter walltime may help."},
    {"DEDICATED", "It is dedicated time, and the job's queue is not for it."},
    {"CROSS_DEDICATED", "The job would last into dedicated time. A shorter walltime may help."},
    {"CROSS_PRIME", "The job would last over a change of prime time. A shorter walltime may help."},
    {"PBS_ERROR", "The server or a host refused to run the job, with these words."},
    {"LACK", "R is requested, A is available now, T is the total: (R: 8 A: 4 T: 16)."},
    {"LACK_QUEUE", "resources_available of the job's queue has not enough."},
    {"LACK_SERVER", "resources_available of the server has not enough."},
    {"STRICT_ORDER", "A job before it waits, and the site keeps the order (strict_ordering)."},
    {"CANNOT_PREEMPT", "The job may preempt others, but those that may be stopped do not hold enough."},
    {"ZERO_SHARES", "The owner has no shares in resource_group."},
    {"FORMULA", "The value of job_sort_formula is below job_sort_formula_threshold."},
    {"PSET_NEVER", "The job asks for more than the largest placement set has."},
    {"PACK", "place=pack wants all chunks on one host, which has too little."},
    {"NODE_STATE", "The host is offline, down, or busy: see pbsnodes."},
    {"SUBJOBS", "max_run_subjobs of the array."},
};

static const struct answer_pages_reason {
    const char *name, *text;
} reasons[] = {
#define REASON(name, comment, log) {#name, comment},
#include "reason.def"
#undef REASON
};

/* "Queue %s job limit" as a reader sees it: "Queue ... job limit". */
static void put_template(const char *text, char out[static TERM_MAX])
{
    size_t n = 0;

    for (; *text && n + 5 < TERM_MAX; text++) {
        if (text[0] != '%' || text[1] != 's') {
            out[n++] = *text;
            continue;
        }
        memcpy(out + n, "...", 3);
        n += 3;
        text++;
    }
    out[n] = '\0';
}

static void put_reasons(FILE *f)
{
    char term[TERM_MAX];

    mdoc_list_open(f);
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        if (!*reasons[i].text || strncmp(reasons[i].name, "RESV_", 5) == 0)
            continue;
        put_template(reasons[i].text, term);
        mdoc_term(f, term, NULL);
        for (size_t h = 0; h < sizeof help / sizeof help[0]; h++)
            if (strcmp(help[h].name, reasons[i].name) == 0)
                mdoc_line(f, "%s", help[h].help);
    }
    mdoc_list_close(f);
}

static void put_server_comments(FILE *f)
{
    static const struct {
        const char *text, *meaning;
    } rows[] = {
        {"Job run at ... on (...)", "The job was started, when and where."},
        {"Job was sent for execution at ... on (...)", "The job is on its way to its hosts."},
        {"Job Array Began at ...", "The first subjob of the array was started."},
        {"... and finished, and failed", "The job ended with exit status 0, or with another one."},
        {"... and terminated by ...", "The job was deleted, and by whom."},
        {"... and exceeded resource ...", "The job was ended because it used more than it asked for."},
        {"Job held by ... on ...", "A user, an operator or the system has set a hold: qrls releases it."},
        {"job held, too many failed attempts to run",
         "Hosts have refused the job 20 times; the server's log says why."},
        {"Job has been moved to ...", "The job is at another server."},
        {"output kept on ...", "Output could not be delivered: where it lies, and why."},
    };

    mdoc_list_open(f);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mdoc_term(f, rows[i].text, NULL);
        mdoc_line(f, "%s", rows[i].meaning);
    }
    mdoc_list_close(f);
}

void answer_pages_comments(FILE *f)
{
    mdoc_section(f, "WHY A JOB WAITS");
    mdoc_line(
        f,
        "The scheduler's words, behind \"Not Running: \", or \"Can Never Run: \" where no host will ever have what the job asks for.");
    mdoc_line(f, "Dots take the place of a name, an amount, or a kind of limit.");
    put_reasons(f);
    mdoc_section(f, "WHAT HAPPENED TO A JOB");
    put_server_comments(f);
    mdoc_section(f, "EXAMPLES");
    mdoc_example(f, "qstat -s 41\n"
                    "pbs_explain 41");
}
