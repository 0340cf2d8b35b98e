/* What is mailed about jobs. See mail.h.
 *
 * Texts are as PBS writes them. A job that was deleted has had its mail when that was asked for; a mark on
 * the way says so (the job records the wish to delete), so an end is told once. Addresses come from
 * users and go to a program: one that holds a blank, a control character, or begins like an option is left
 * out. */
#include "mail.h"

#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "attr_type.h"
#include "job_run.h"
#include "job_view.h"
#include "mailer.h"
#include "server_ctx.h"
#include "strbuf.h"
#include "units.h"
#include "words.h"

enum { MESSAGE_MAX = 1 << 16, ADDRESS_MAX = 1024, MS_PER_S = 1000 };

struct mail {
    struct server_ctx *ctx;
    struct mailer *mailer;
    char *host;
};

struct mail *mail_create(struct server_ctx *s, struct mailer *mailer, const char *host)
{
    struct mail *m = calloc(1, sizeof *m);

    if (m)
        *m = (struct mail){s, mailer, host ? strdup(host) : NULL};
    return m;
}

void mail_destroy(struct mail *m)
{
    if (m)
        free(m->host);
    free(m);
}

static bool is_asked_for(const struct job *j, char point)
{
    const char *points = attr_list_text(&j->obj.attrs, JOB_ATTR_Mail_Points);

    if (!points)
        points = "a";
    if (strchr(points, 'n') || (job_is_subjob(j) && !strchr(points, 'j')))
        return false;
    return strchr(points, point) != NULL;
}

/* ---- whom */
/* Addresses go to a program as arguments and into a header line: no blanks, nothing that ends the line. */
static bool is_clean(const char *address)
{
    for (const char *p = address; *p; p++)
        if ((unsigned char)*p <= ' ' || *p == 127)
            return false;
    return address[0] && address[0] != '-';
}

static void add_address(const struct mail *m, const char *text, struct words *to)
{
    struct strbuf b;

    strbuf_init(&b, ADDRESS_MAX);
    strbuf_add(&b, text);
    if (m->host && !strchr(text, '@'))
        strbuf_addf(&b, "@%s", m->host);
    if (is_clean(strbuf_str(&b)))
        words_add(to, b.s, NULL);
    strbuf_fini(&b);
}

static void add_owner(const struct mail *m, const char *user, const char *host, struct words *to)
{
    struct strbuf b;

    strbuf_init(&b, ADDRESS_MAX);
    strbuf_addf(&b, "%s@%s", user, m->host ? m->host : host ? host : m->ctx->name);
    add_address(m, strbuf_str(&b), to);
    strbuf_fini(&b);
}

static void add_users(const struct mail *m, const struct value *users, struct words *to)
{
    const struct value_type *type = attr_type_get(attr_def_get(OF_JOB, JOB_ATTR_Mail_Users)->type);
    struct strbuf b;
    struct words list;

    strbuf_init(&b, MESSAGE_MAX);
    words_init(&list);
    if (users && type->format(type, users, &b) == 0 && b.len)
        words_parse_commas(b.s, &list, NULL);
    for (size_t i = 0; i < list.n; i++)
        add_address(m, list.w[i], to);
    words_fini(&list);
    strbuf_fini(&b);
}

/* ---- what */
static const char *server_text(const struct mail *m, int attr, const char *otherwise)
{
    const char *text = attr_list_text(&m->ctx->server->obj.attrs, attr);

    return text && *text ? text : otherwise;
}

static void post_to(struct mail *m, const struct words *to, const char *about, const char *text)
{
    struct strbuf b;

    strbuf_init(&b, MESSAGE_MAX);
    strbuf_add(&b, "To: ");
    for (size_t i = 0; i < to->n; i++)
        strbuf_addf(&b, "%s%s", i ? ", " : "", to->w[i]);
    strbuf_add(&b, text);
    if (to->n)
        mailer_send(m->mailer, server_text(m, SERVER_ATTR_mailer, "/usr/sbin/sendmail"),
                    server_text(m, SERVER_ATTR_mail_from, "adm"), to->w, to->n, strbuf_str(&b), about);
    strbuf_fini(&b);
}

static void post_about(struct mail *m, const struct job *j, const char *body)
{
    const char *name = attr_list_text(&j->obj.attrs, JOB_ATTR_Job_Name);
    struct words to;
    struct strbuf b;

    words_init(&to);
    strbuf_init(&b, MESSAGE_MAX);
    add_users(m, attr_list_find(&j->obj.attrs, JOB_ATTR_Mail_Users), &to);
    if (!to.n)
        add_owner(m, j->user, j->host, &to);
    strbuf_addf(&b, "\nSubject: PBS JOB %s\n\nPBS Job Id: %s\nJob Name:   %s\n%s", j->obj.name, j->obj.name,
                name ? name : "", body);
    post_to(m, &to, j->obj.name, strbuf_str(&b));
    strbuf_fini(&b);
    words_fini(&to);
}

void mail_on_resv(void *arg, const struct server_event *ev)
{
    struct mail *m = arg;
    const struct resv *r = ev->resv;
    const char *text = ev->text;
    char point = ev->letter;
    const char *points = attr_list_text(&r->obj.attrs, RESV_ATTR_Mail_Points);
    const char *name = attr_list_text(&r->obj.attrs, RESV_ATTR_Reserve_Name);
    const char *owner = attr_list_text(&r->obj.attrs, RESV_ATTR_Reserve_Owner);
    char user[PBS_MAXUSER + 1];
    struct words to;
    struct strbuf b;

    points = points ? points : "ac";
    if (strchr(points, 'n') || !strchr(points, point) || !owner)
        return;
    words_init(&to);
    strbuf_init(&b, MESSAGE_MAX);
    snprintf(user, sizeof user, "%.*s", (int)strcspn(owner, "@"), owner);
    add_users(m, attr_list_find(&r->obj.attrs, RESV_ATTR_Mail_Users), &to);
    if (!to.n)
        add_owner(m, user, attr_list_text(&r->obj.attrs, RESV_ATTR_Submit_Host), &to);
    strbuf_addf(&b, "\nSubject: PBS RESERVATION %s\n\nPBS Reservation Id: %s\nReservation Name:   %s\n%s\n",
                r->obj.name, r->obj.name, name ? name : "NULL", text);
    post_to(m, &to, r->obj.name, strbuf_str(&b));
    strbuf_fini(&b);
    words_fini(&to);
}

static void send_end(struct mail *m, const struct job *j)
{
    char cput[UNITS_TEXT_MAX], walltime[UNITS_TEXT_MAX];
    struct strbuf b;

    units_format_duration(cput, j->usage.cput_ms / MS_PER_S);
    units_format_duration(walltime, j->usage.walltime_ms / MS_PER_S);
    strbuf_init(&b, MESSAGE_MAX);
    strbuf_addf(&b,
                "Execution terminated\nExit_status=%d\nresources_used.cpupercent=%u\nresources_used.cput=%s\n"
                "resources_used.mem=%lldkb\nresources_used.ncpus=%u\nresources_used.vmem=%lldkb\n"
                "resources_used.walltime=%s\n",
                j->exit_status, j->usage.cpupercent, cput, (long long)j->usage.mem_kb, j->usage.ncpus,
                (long long)j->usage.vmem_kb, walltime);
    if (j->preempt_count)
        strbuf_addf(&b, "preempt_count=%u\npreempt_method=%c\npreempted_by=%s\n", j->preempt_count,
                    j->preempt_method, j->preempted_by ? j->preempted_by : "");
    post_about(m, j, strbuf_str(&b));
    strbuf_fini(&b);
}

static void send_abort(struct mail *m, const struct job *j, const char *why)
{
    struct strbuf b;

    strbuf_init(&b, MESSAGE_MAX);
    strbuf_addf(&b, "Aborted by PBS Server \n%s\n", why);
    post_about(m, j, strbuf_str(&b));
    strbuf_fini(&b);
}

/* ---- when */
/* Limits have statuses below 0 too, but those jobs did run. */
static bool did_run(const struct job *j)
{
    return j->exit_status >= 0 || j->exit_status <= -23;
}

/* A user who does not ask for mail when a job ends by itself wants to know of a job that was killed for its
 * usage. */
static void send_limit(struct mail *m, const struct job *j)
{
    const char *limit = job_view_limit(j->exit_status);
    struct strbuf b;

    if (!limit || !is_asked_for(j, 'a'))
        return;
    strbuf_init(&b, MESSAGE_MAX);
    strbuf_addf(&b, "Job exceeded resource %s\nSee job standard error file", limit);
    send_abort(m, j, strbuf_str(&b));
    strbuf_fini(&b);
}

static void has_ended(struct mail *m, const struct job *j)
{
    const char *comment = attr_list_text(&j->obj.attrs, JOB_ATTR_comment);

    if (!j->exited)
        return; /* the job never ran: the code that dropped it has sent the mail */
    send_limit(m, j);
    if (did_run(j) && is_asked_for(j, 'e'))
        send_end(m, j);
    else if (!did_run(j) && j->intent != INTENT_DELETE && is_asked_for(j, 'a'))
        send_abort(m, j, comment ? comment : "Job cannot be executed");
}

void mail_listen(void *arg, struct job *j, enum job_state from, enum job_event ev)
{
    struct mail *m = arg;

    if (((ev == EV_STARTED && from == JOB_STARTING) || ev == EV_ARRAY_BEGUN) && is_asked_for(j, 'b'))
        post_about(m, j, "Begun execution\n");
    else if (j->state == JOB_FINISHED && from != JOB_FINISHED)
        has_ended(m, j);
    else if (j->state == JOB_WAITING && from != JOB_WAITING && j->run && j->run->finished &&
             j->run->reason == EXEC_END_STAGEIN)
        mail_files(m, j, j->run->exec_host, j->run->note ? j->run->note : "");
}

bool mail_deleted(struct mail *m, struct job *j, const char *who, const char *user)
{
    struct strbuf b;

    if (!is_asked_for(j, 'a') || strcmp(user, j->user) == 0)
        return false;
    strbuf_init(&b, MESSAGE_MAX);
    strbuf_addf(&b, "Aborted by PBS Server \nJob to be deleted at request of %s\n", who);
    post_about(m, j, strbuf_str(&b));
    strbuf_fini(&b);
    return true;
}

void mail_on_preempted(void *arg, const struct server_event *ev)
{
    struct mail *m = arg;
    struct job *j = ev->job;
    struct strbuf b;

    if (ev->result != PREEMPT_DELETED || !is_asked_for(j, 'a'))
        return;
    strbuf_init(&b, MESSAGE_MAX);
    strbuf_addf(&b, "Preempted by deletion, to make room for %s",
                j->preempted_by ? j->preempted_by : "others");
    send_abort(m, j, strbuf_str(&b));
    strbuf_fini(&b);
}

void mail_on_unwanted(void *arg, const struct server_event *ev)
{
    if (is_asked_for(ev->job, 'a'))
        send_abort(arg, ev->job, ev->text);
}

void mail_files(struct mail *m, struct job *j, const char *host, const char *text)
{
    struct strbuf b;

    strbuf_init(&b, MESSAGE_MAX);
    strbuf_addf(&b, "Post job file processing error; job %s on host %s\n\n%s\n", j->obj.name, host, text);
    post_about(m, j, strbuf_str(&b));
    strbuf_fini(&b);
}
