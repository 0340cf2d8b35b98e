/* See reference.h. */
#include "reference.h"

#include <inttypes.h>
#include <string.h>

#include "answer_pages.h"
#include "attr_def.h"
#include "conf.h"
#include "config_pages.h"
#include "mdoc.h"
#include "resource.h"
#include "strbuf.h"
#include "value.h"

enum { NOTE_MAX = 4096 };

struct page {
    const char *file; /* name of the page and its section */
    struct mdoc_head head;
    enum attr_of of;
    const char *const *intro; /* lines, NULL at the end; a line "" begins a paragraph */
    void (*body)(FILE *f, const struct page *p);
    const char *const *see;
};

/* --- attributes --------------------------------------------------------------------------------------------- */

/* Types of many attributes are explained once, at the end of the page; those of a few with the attribute. */
static bool is_common(enum attr_type t)
{
    static const enum attr_type common[] = {TYPE_LONG,           TYPE_LONG64, TYPE_BOOLEAN, TYPE_FLOAT,
                                            TYPE_STRING,         TYPE_TEXT,   TYPE_SIZE,    TYPE_DURATION,
                                            TYPE_STRING_ARRAY,   TYPE_ACL,    TYPE_LIMIT,   TYPE_RESOURCES,
                                            TYPE_RESOURCE_LIMITS};

    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        if (common[i] == t)
            return true;
    return false;
}

/* Return the form of good values; the rows have it as messages need it. */
static const char *form_of(const struct value_type *t)
{
    return strncmp(t->form, "must be ", 8) == 0 ? t->form + 8 : t->form;
}

static void put_range(FILE *f, const struct attr_def *d)
{
    if (d->min > INT32_MIN && d->max < INT32_MAX)
        mdoc_line(f, "From %" PRId64 " to %" PRId64 ".", d->min, d->max);
    else if (d->min > INT32_MIN)
        mdoc_line(f, "Not below %" PRId64 ".", d->min);
}

static void put_rights(FILE *f, enum attr_of of, const struct attr_def *d)
{
    const char *const who[LEVEL_COUNT] = {of == OF_JOB ? "its owner" : "users", "operators and managers",
                                          "managers", "schedulers", "the server"};

    if (d->write == LEVEL_SERVER)
        mdoc_line(f, "Set by the server%s.", d->flags & AF_SERVER ? " and schedulers" : "");
    else
        mdoc_line(f, "Set by %s%s.", who[d->write], d->flags & AF_CREATE ? ", only when it is made" : "");
    if (d->read != LEVEL_USER)
        mdoc_line(f, "Shown to %s only.", who[d->read]);
}

static void put_flags(FILE *f, enum attr_of of, const struct attr_def *d)
{
    static const struct {
        unsigned flag;
        const char *sentence;
    } rows[] = {
        {AF_HIDDEN, "Hidden unless the server's show_hidden_attribs is true."},
        {AF_DERIVED, "Computed when it is asked for."},
        {AF_EXEC, "Of execution queues only."},
        {AF_ROUTING, "Of route queues only."},
        {AF_INDIRECT, "An amount may be @vnode: that vnode's is shared."},
        {AF_ASKED, "Shown only to who asks for it by name."},
        {AF_PRIVATE, "With the server's hide_environments shown to the owner, operators and managers only."},
        {AF_UNUSED, "Kept and shown, but nothing acts on it."}};

    if ((d->flags & AF_RUN) && d->write != LEVEL_SERVER && (of == OF_JOB || of == OF_RESV))
        mdoc_line(f, "Alterable while it runs.");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (d->flags & rows[i].flag)
            mdoc_line(f, "%s", rows[i].sentence);
}

static void put_attribute(FILE *f, enum attr_of of, const struct attr_def *d)
{
    char note[NOTE_MAX];

    snprintf(note, sizeof note, "(%s)", attr_def_type(d)->name);
    mdoc_term(f, d->name, note);
    mdoc_line(f, "%s.", d->meaning);
    if (!is_common(d->type) && attr_def_type(d)->form)
        mdoc_line(f, "Value: %s.", form_of(attr_def_type(d)));
    put_range(f, d);
    if (d->dflt && *d->dflt)
        mdoc_line(f, "Default: %s.", d->dflt);
    put_rights(f, of, d);
    put_flags(f, of, d);
}

static void put_attributes(FILE *f, enum attr_of of)
{
    mdoc_list_open(f);
    for (int i = 0; i < attr_def_count(of); i++)
        put_attribute(f, of, attr_def_get(of, i));
    mdoc_list_close(f);
}

/* Explain how values of the types on this page are written. */
static void put_types(FILE *f, enum attr_of of)
{
    bool seen[TYPE_COUNT] = {false};

    mdoc_section(f, "TYPES");
    mdoc_list_open(f);
    for (int i = 0; i < attr_def_count(of); i++)
        seen[attr_def_get(of, i)->type] = true;
    for (int i = 0; i < TYPE_COUNT; i++) {
        const struct value_type *t = attr_type_get((enum attr_type)i);

        if (!seen[i] || !is_common((enum attr_type)i) || i == TYPE_TEXT || !t->form)
            continue;
        mdoc_term(f, t->name, NULL);
        mdoc_line(f, "%s.", form_of(t));
    }
    mdoc_list_close(f);
}

static void reference_attributes(FILE *f, const struct page *p)
{
    mdoc_section(f, "ATTRIBUTES");
    put_attributes(f, p->of);
    put_types(f, p->of);
}

/* --- resources ---------------------------------------------------------------------------------------------- */

static void put_resource(FILE *f, const struct resource *r)
{
    char note[NOTE_MAX];
    struct strbuf letters;

    strbuf_init(&letters, NOTE_MAX);
    resource_flags_format(r->flags, &letters);
    snprintf(note, sizeof note, "(%s%s%s)", r->type->name, letters.len ? ", flags " : "",
             strbuf_str(&letters));
    strbuf_fini(&letters);
    mdoc_term(f, r->name, note);
    mdoc_line(f, "%s.", r->meaning);
    if (r->flags & RESC_ALTER_RUN)
        mdoc_line(f, "Alterable while a job runs; its owner may only lower it.");
    if (!resource_may_write(r, LEVEL_USER))
        mdoc_line(f, "%s.", resource_may_write(r, LEVEL_MANAGER) ? "Set by managers" : "Set by the server");
}

static void reference_resources(FILE *f, const struct page *p)
{
    struct resource_table *t = resource_table_create();
    const struct resource *r = NULL;

    mdoc_section(f, "BUILT\\-IN RESOURCES");
    mdoc_list_open(f);
    while (t && (r = resource_next(t, r)))
        put_resource(f, r);
    mdoc_list_close(f);
    resource_table_destroy(t);
    mdoc_section(f, "CUSTOM RESOURCES");
    mdoc_line(f, "Managers make them: create resource NAME type=long,flag=nh.");
    mdoc_line(f, "Their attributes are:");
    put_attributes(f, p->of);
}

/* --- pbs.conf ----------------------------------------------------------------------------------------------- */

static const char *conf_type(enum conf_type t)
{
    switch (t) {
    case CONF_TEXT:
        return "text";
    case CONF_NAME:
        return "name";
    case CONF_PORT:
        return "port";
    case CONF_INT:
        return "number";
    case CONF_BOOL:
        return "0 or 1";
    }
    return "";
}

static void reference_conf_keys(FILE *f, const struct page *p)
{
    mdoc_section(f, "KEYS");
    mdoc_list_open(f);
    for (int i = 0; i < CONF_KEY_COUNT; i++) {
        const struct conf_row *row = conf_row((enum conf_key)i);
        char note[NOTE_MAX];

        snprintf(note, sizeof note, "(%s)", conf_type(row->type));
        mdoc_term(f, row->name, note);
        mdoc_line(f, "%s.", row->sentence);
        if (row->preset)
            mdoc_line(f, "Default: %s.", row->preset);
        if (!row->env)
            mdoc_line(f, "The environment does not override it.");
    }
    mdoc_list_close(f);
}

/* --- files and answers -------------------------------------------------------------------------------------- */

static void reference_sched_config(FILE *f, const struct page *p)
{
    config_pages_sched(f);
}

static void reference_mom_config(FILE *f, const struct page *p)
{
    config_pages_mom(f);
}

static void reference_exit_status(FILE *f, const struct page *p)
{
    answer_pages_exit_status(f);
}

static void reference_states(FILE *f, const struct page *p)
{
    answer_pages_states(f);
}

static void reference_comments(FILE *f, const struct page *p)
{
    answer_pages_comments(f);
}

/* --- the pages ---------------------------------------------------------------------------------------------- */

static const char *const job_intro[] = {
    "These are the attributes of jobs, as qstat -f shows them and qsub, qalter and pbs_submit set them.",
    "Names are compared without regard to case.",
    "Where a type is a list of amounts the attribute is named with a resource: Resource_List.walltime.",
    NULL};
static const char *const queue_intro[] = {
    "These are the attributes of queues, set by qmgr: set queue NAME attribute = value.",
    "A queue takes jobs when enabled is true and lets them run when started is; both need queue_type.",
    "",
    "Limits by entity are lists in brackets: [u:anna=3],[g:PBS_GENERIC=10],[o:PBS_ALL=100].",
    "Those on running jobs hold in the scheduler and in the server; who is over a soft one loses preemption priority.",
    NULL};
static const char *const server_intro[] = {
    "These are the attributes of the server, shown by qstat -Bf and set by qmgr: set server attribute = value.",
    "Limits by entity are lists in brackets: [u:anna=3],[g:PBS_GENERIC=10],[o:PBS_ALL=100].",
    "Those on running jobs hold in the scheduler and in the server; who is over a soft one loses preemption priority.",
    NULL};
static const char *const node_intro[] = {
    "These are the attributes of vnodes, shown by pbsnodes and set by qmgr: set node NAME attribute = value.",
    NULL};
static const char *const sched_intro[] = {
    "These are the attributes of scheduler objects, set by qmgr: set sched NAME attribute = value.",
    "The one called default is always there.",
    "The scheduler reads the rest of its policy from sched_priv/sched_config; see pbs_sched(8).", NULL};
static const char *const hold_intro[] = {
    "A hold keeps room for a job until others have given way to it: pbs_preempt_run(3) makes it,",
    "pbs_stathold() shows it, pbs_delhold() undoes it.",
    "Its name is the identifier of the job that it is for; the server starts that job when the room is there.",
    "None of these attributes can be set.", NULL};
static const char *const resource_intro[] = {
    "A resource is a named amount that jobs ask for and vnodes, queues and the server have.",
    "A job asks by chunks, qsub -l select=2:ncpus=4:mem=8gb, for what is marked h;",
    "and for the whole job, qsub -l walltime=1:00:00, for everything else.",
    "Amounts that are counted are marked: n is taken from each vnode of a chunk, f from its first vnode only,",
    "q from the server and the queue.",
    "",
    "Sizes are a number and b or w (words), with k, m, g, t or p before it: 8gb.",
    "Durations are seconds, or hours:minutes:seconds.",
    "Booleans are True or False.",
    "A script can tell how much there is of one: server_dyn_res of the scheduler, $resource_poll of a MOM.",
    NULL};
static const char *const conf_intro[] = {
    "The daemons and commands of a host find directories, ports and the server by this file of NAME=value lines.",
    "It is /etc/pbs.conf, or what PBS_CONF_FILE of the environment names.",
    "A variable of the environment of the same name overrides a line.",
    "Unknown names are ignored, because shell scripts share the file.",
    "",
    "PBS_EXEC, PBS_HOME and PBS_SERVER must be known from one or the other; otherwise programs end with",
    "\"pbsconf error: pbs conf variables not found: NAMES\".",
    "A host name that holds a colon is \"pbsconf error: illegal value for: NAME\".",
    NULL};

static const char *const sched_config_intro[] = {
    "PBS_HOME/sched_priv/sched_config holds the policy of a scheduler, beside the attributes of its sched object.",
    "The scheduler writes the file with every option at its default where there is none, and reads it at its start and at SIGHUP.",
    "A file with a wrong line changes nothing; the log names the line.",
    "",
    "A line is \"name: value\", and may end with a word that says when it holds: prime, non_prime or all.",
    "Lines for prime time and for other hours may differ. Without the word a line holds always.",
    "# begins a comment. Values with blanks are in double quotes.",
    NULL};
static const char *const mom_config_intro[] = {
    "PBS_HOME/mom_priv/config is read by the MOM of a host at its start and at SIGHUP; without it every directive has its default.",
    "The file must belong to the MOM's user, and no other user may write to it.",
    "A file with a wrong line changes nothing: a MOM that starts says so and ends, one that runs says so in its log.",
    "",
    "A line is \"$name value\" for a directive, or \"resource amount\" for a resource of the host. # begins a comment.",
    NULL};
static const char *const exit_status_intro[] = {
    "The attribute Exit_status says how a job ended; qstat -x -f, the record E of the accounting log and mail show it.",
    "Numbers below 0 come from the host or from the server: the script has not said how it ended.", NULL};
static const char *const states_intro[] = {
    "The attribute job_state is the letter of a job's state, substate a number that says more.", NULL};
static const char *const comments_intro[] = {
    "The attribute comment tells the owner of a job why it waits, or what became of it; qstat -s and qstat -f show it.",
    "The scheduler brings the comments of waiting jobs up to date after its cycles, unless update_comments of sched_config is false.",
    "An operator may set a comment with qalter -W comment=TEXT.", NULL};

static const char *const see_sched_config[] = {"qmgr 1",
                                               "pbs_dedicated_time 5",
                                               "pbs_holidays 5",
                                               "pbs_resource_group 5",
                                               "pbs_sched_attributes 7",
                                               "pbs_sched 8",
                                               NULL};
static const char *const see_mom_config[] = {"pbs_vnodes 5", "pbs_node_attributes 7", "pbs_mom 8", NULL};
static const char *const see_exit_status[] = {"qstat 1", "pbs_accounting 5", "pbs_comments 7", "pbs_states 7",
                                              NULL};
static const char *const see_states[] = {"qselect 1", "qstat 1", "pbs_comments 7", "pbs_exit_status 7", NULL};
static const char *const see_comments[] = {"pbs_explain 1", "qstat 1", "pbs_exit_status 7", "pbs_states 7",
                                           NULL};
static const char *const see_job[] = {"qalter 1", "qstat 1", "qsub 1", "pbs_resources 7", NULL};
static const char *const see_admin[] = {"qmgr 1", "pbs_resources 7", "pbs_server 8", NULL};
static const char *const see_node[] = {"pbsnodes 1", "qmgr 1", "pbs_resources 7", "pbs_mom 8", NULL};
static const char *const see_sched[] = {"qmgr 1", "pbs_preempt_jobs 3", "pbs_sched 8", NULL};
static const char *const see_hold[] = {"pbs_preempt_jobs 3", "pbs_sched_attributes 7", NULL};
static const char *const see_resource[] = {"qmgr 1", "qsub 1", "pbs_job_attributes 7", NULL};
static const char *const see_conf[] = {"pbs_mom 8", "pbs_sched 8", "pbs_server 8", NULL};

static const struct page pages[] = {
    {"pbs_job_attributes.7",
     {"pbs_job_attributes", "7", "attributes of jobs"},
     OF_JOB,
     job_intro,
     reference_attributes,
     see_job},
    {"pbs_queue_attributes.7",
     {"pbs_queue_attributes", "7", "attributes of queues"},
     OF_QUEUE,
     queue_intro,
     reference_attributes,
     see_admin},
    {"pbs_server_attributes.7",
     {"pbs_server_attributes", "7", "attributes of the server"},
     OF_SERVER,
     server_intro,
     reference_attributes,
     see_admin},
    {"pbs_node_attributes.7",
     {"pbs_node_attributes", "7", "attributes of vnodes"},
     OF_NODE,
     node_intro,
     reference_attributes,
     see_node},
    {"pbs_sched_attributes.7",
     {"pbs_sched_attributes", "7", "attributes of schedulers"},
     OF_SCHED,
     sched_intro,
     reference_attributes,
     see_sched},
    {"pbs_hold_attributes.7",
     {"pbs_hold_attributes", "7", "attributes of holds"},
     OF_HOLD,
     hold_intro,
     reference_attributes,
     see_hold},
    {"pbs_resources.7",
     {"pbs_resources", "7", "resources that jobs ask for"},
     OF_RESOURCE,
     resource_intro,
     reference_resources,
     see_resource},
    {"pbs.conf.5",
     {"pbs.conf", "5", "names, places and ports of a host's daemons and commands"},
     OF_SERVER,
     conf_intro,
     reference_conf_keys,
     see_conf},
    {"pbs_sched_config.5",
     {"pbs_sched_config", "5", "sched_config, the policy of a scheduler"},
     OF_SCHED,
     sched_config_intro,
     reference_sched_config,
     see_sched_config},
    {"pbs_mom_config.5",
     {"pbs_mom_config", "5", "mom_priv/config, the configuration of a MOM"},
     OF_NODE,
     mom_config_intro,
     reference_mom_config,
     see_mom_config},
    {"pbs_exit_status.7",
     {"pbs_exit_status", "7", "what the exit status of a job means"},
     OF_JOB,
     exit_status_intro,
     reference_exit_status,
     see_exit_status},
    {"pbs_states.7",
     {"pbs_states", "7", "states and substates of jobs"},
     OF_JOB,
     states_intro,
     reference_states,
     see_states},
    {"pbs_comments.7",
     {"pbs_comments", "7", "what the comment of a job means"},
     OF_JOB,
     comments_intro,
     reference_comments,
     see_comments},
};

int reference_write(FILE *f, const char *name)
{
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        const struct page *p = &pages[i];
        const char *const *line = p->intro;

        if (strcmp(p->file, name) != 0)
            continue;
        mdoc_head(f, &p->head);
        mdoc_section(f, "DESCRIPTION");
        for (; *line; line++)
            **line ? mdoc_line(f, "%s", *line) : mdoc_paragraph(f);
        p->body(f, p);
        mdoc_see(f, p->see);
        return 0;
    }
    return -1;
}

const char *reference_page(size_t i)
{
    return i < sizeof pages / sizeof pages[0] ? pages[i].file : NULL;
}
