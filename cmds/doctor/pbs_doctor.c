/* pbs_doctor: check this host of a complex; see doc/man/pbs_doctor.8.
 *
 * One table of checks, in the order in which an administrator would look: the host itself, its files, then the other
 * hosts. One line for each fault, with the remedy. Nothing is changed. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pbs_ifl.h"

#include "doctor.h"
#include "json_out.h"

/* Exit status for monitoring. */
enum { EXIT_FINE = 0, EXIT_WARNINGS = 1, EXIT_ERRORS = 2 };

const struct doctor_check doctor_checks[] = {
    {"own-name", ON_ANY, doctor_own_name,
     "give the host's name the address of an interface in /etc/hosts or DNS, not one of 127.0.0.0/8"},
    {"server-name", ON_ANY, doctor_server_name,
     "let /etc/hosts or DNS know the name, or correct PBS_SERVER in pbs.conf"},
    {"reverse-name", ON_SERVER | ON_MOM, doctor_reverse,
     "let the address lead back to the name, in /etc/hosts or DNS"},
    {"users", ON_SERVER | ON_SCHED, doctor_users,
     "make the account (useradd --system), or correct PBS_DAEMON_SERVICE_USER in pbs.conf"},
    {"files", ON_ANY, doctor_rights, "run pbs_probe -f as root"},
    {"space", ON_ANY, doctor_space, "make room in the file system"},
    {"inodes", ON_ANY, doctor_inodes, "remove files: the file system has hardly any inodes left"},
    {"ca", ON_ANY, doctor_ca,
     "run \"pbs_keys ca\" on the server's host, which prints the command that fetches it"},
    {"key-rights", ON_SERVER | ON_SCHED | ON_MOM, doctor_key_rights,
     "chmod 0600; replace a key that others could read, with its certificate"},
    {"certificate-dates", ON_ANY, doctor_dates,
     "pbs_keys renew; daemons renew theirs by themselves, so see in their logs why they did not"},
    {"certificate-signer", ON_SERVER | ON_SCHED | ON_MOM, doctor_signed,
     "pbs_keys join with a token of this complex, or pbs_keys issue on the server's host"},
    {"node-certificate", ON_MOM, doctor_node_certificate,
     "pbs_keys join with a token for this name; if the host was renamed, PBS_MOM_NODE_NAME in pbs.conf keeps the former node "
     "and its jobs"},
    {"munge", ON_ANY, doctor_munge, "start munged, with the key of the server's host (/etc/munge/munge.key)"},
    {"store", ON_SERVER, doctor_store, "see pbs_store check, and the log of the database"},
    {"daemons", ON_SERVER | ON_SCHED | ON_MOM, doctor_daemons,
     "pbs_init.d start, and read its log if it ends again"},
    {"ports", ON_SERVER | ON_MOM, doctor_ports,
     "see which program has the port (ss -ltnp), and whether a firewall is in the way"},
    {"delivery", ON_MOM, doctor_delivery,
     "install scp, name it as PBS_SCP, or add $usecp lines to mom_priv/config"},
    {"server", ON_ANY, doctor_reach,
     "see that the server runs, and its log; the port must be open between the hosts"},
    {"closed", ON_SERVER, doctor_closed,
     "set what is lost (server_priv/set_aside) with qmgr as root, then qmgr -c \"unset server closed\""},
    {"clock", ON_ANY, doctor_clock, "run a time service on both hosts (chrony, systemd-timesyncd)"},
    {"versions", ON_ANY, doctor_versions, "install one version on all hosts, the server's first"},
    {"nodes", ON_SERVER, doctor_nodes, "see the MOM's log on that host; pbsnodes -r when it is repaired"},
    {"confinement", ON_MOM, doctor_confinement,
     "let the MOM have the controllers of cgroups (unit pbs-jobs, Delegate=yes); see doc/cgroups.md"},
    {"resources", ON_SCHED, doctor_resources,
     "add it to the line \"resources:\" of sched_config and send the scheduler SIGHUP"},
};
const size_t doctor_n_checks = sizeof doctor_checks / sizeof doctor_checks[0];

static const struct option_row rows[] = {
    CMD_FORMAT(struct doctor, json),
    CMD_FLAG('v', struct doctor, verbose, "report what is fine, too"),
};

static const char *const state_names[DOCTOR_STATES] = {"fine", "unseen", "warning", "error"};

/* ---- telling ----------------------------------------------------------------------------------------- */

static void pbs_doctor_note(struct doctor *d, enum doctor_state state, const char *fmt, va_list ap)
{
    struct doctor_finding *more = realloc(d->findings, (d->n_findings + 1) * sizeof *more);

    d->count[state]++;
    if (!more)
        return;
    d->findings = more;
    more += d->n_findings++;
    *more = (struct doctor_finding){.check = d->check, .state = state};
    vsnprintf(more->text, sizeof more->text, fmt, ap);
}

void doctor_warn(struct doctor *d, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    pbs_doctor_note(d, DOCTOR_WARNING, fmt, ap);
    va_end(ap);
}

void doctor_fail(struct doctor *d, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    pbs_doctor_note(d, DOCTOR_ERROR, fmt, ap);
    va_end(ap);
}

void doctor_skip(struct doctor *d, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    pbs_doctor_note(d, DOCTOR_SKIPPED, fmt, ap);
    va_end(ap);
}

static void note_fine(struct doctor *d, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    pbs_doctor_note(d, DOCTOR_FINE, fmt, ap);
    va_end(ap);
}

static void print_lines(const struct doctor *d)
{
    for (size_t i = 0; i < d->n_findings; i++) {
        const struct doctor_finding *f = &d->findings[i];

        if (f->state == DOCTOR_FINE && d->verbose)
            printf("%s: %s\n", state_names[f->state], f->check->name);
        else if (f->state == DOCTOR_SKIPPED)
            printf("%s: %s: %s\n", state_names[f->state], f->check->name, f->text);
        else if (f->state != DOCTOR_FINE)
            printf("%s: %s: %s; %s\n", state_names[f->state], f->check->name, f->text, f->check->remedy);
    }
}

static void print_json(const struct doctor *d)
{
    struct json_out j;

    json_out_begin(&j, stdout);
    json_out_string(&j, "host", d->host);
    json_out_number(&j, "errors", (long long)d->count[DOCTOR_ERROR]);
    json_out_number(&j, "warnings", (long long)d->count[DOCTOR_WARNING]);
    json_out_number(&j, "unseen", (long long)d->count[DOCTOR_SKIPPED]);
    json_out_open(&j, "findings", '[');
    for (size_t i = 0; i < d->n_findings; i++) {
        const struct doctor_finding *f = &d->findings[i];

        json_out_open(&j, NULL, '{');
        json_out_string(&j, "check", f->check->name);
        json_out_string(&j, "state", state_names[f->state]);
        if (f->state != DOCTOR_FINE)
            json_out_string(&j, "text", f->text);
        if (f->state > DOCTOR_SKIPPED)
            json_out_string(&j, "remedy", f->check->remedy);
        json_out_close(&j, '}');
    }
    json_out_close(&j, ']');
    json_out_end(&j);
}

/* ---- what checks ask for ------------------------------------------------------------------------------- */

int doctor_server(struct doctor *d)
{
    if (!d->asked_server)
        d->server = pbs_connect(NULL);
    d->asked_server = true;
    return d->server;
}

const char *doctor_attr(const struct batch_status *s, const char *name)
{
    for (const struct attrl *a = s ? s->attribs : NULL; a; a = a->next)
        if (strcmp(a->name, name) == 0)
            return a->value;
    return NULL;
}

static void read_lines(struct doctor *d, int fd, void (*line)(struct doctor *d, const char *text))
{
    FILE *f = fdopen(fd, "r");
    char *text = NULL;
    size_t cap = 0;
    ssize_t n;

    while (f && (n = getline(&text, &cap, f)) > 0) {
        if (text[n - 1] == '\n')
            text[n - 1] = '\0';
        line(d, text);
    }
    free(text);
    if (f)
        fclose(f);
}

int doctor_run(struct doctor *d, char *const argv[], void (*line)(struct doctor *d, const char *text))
{
    int to[2], status = 0;
    pid_t pid;

    if (pipe(to) < 0)
        return -1;
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        dup2(to[1], STDOUT_FILENO);
        dup2(to[1], STDERR_FILENO);
        close(to[0]);
        close(to[1]);
        execv(argv[0], argv);
        _exit(127);
    }
    close(to[1]);
    read_lines(d, to[0], line);
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) == 127)
        return -1;
    return WEXITSTATUS(status);
}

/* ---- the whole ---------------------------------------------------------------------------------------- */

static void find_place(struct doctor *d)
{
    const struct {
        enum conf_key key;
        enum doctor_where where;
    } starts[] = {
        {CONF_PBS_START_SERVER, ON_SERVER}, {CONF_PBS_START_SCHED, ON_SCHED}, {CONF_PBS_START_MOM, ON_MOM}};

    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (conf_int(d->conf, starts[i].key))
            d->here |= starts[i].where;
    d->home = conf_text(d->conf, CONF_PBS_HOME);
    d->mom_home = conf_text(d->conf, CONF_PBS_MOM_HOME);
    if (!d->mom_home)
        d->mom_home = d->home;
    if (gethostname(d->host, sizeof d->host - 1) < 0)
        d->host[0] = '\0';
}

static void run_checks(struct doctor *d)
{
    for (size_t i = 0; i < doctor_n_checks; i++) {
        size_t before = d->n_findings;

        d->check = &doctor_checks[i];
        if (d->check->where != ON_ANY && !(d->check->where & d->here))
            continue;
        d->check->run(d);
        if (d->n_findings == before)
            note_fine(d, "fine");
    }
}

static int pbs_doctor_run(void *settings, int n, char *operands[])
{
    struct doctor *d = settings;
    struct err e;

    if (n)
        return cmd_usage(&d->a);
    d->conf = conf_load(&e);
    if (!d->conf) {
        cmd_error(&d->a, "%s", e.text);
        return EXIT_ERRORS;
    }
    d->server = -1;
    find_place(d);
    run_checks(d);
    if (d->json)
        print_json(d);
    else
        print_lines(d);
    if (d->server >= 0)
        pbs_disconnect(d->server);
    return d->count[DOCTOR_ERROR] ? EXIT_ERRORS : d->count[DOCTOR_WARNING] ? EXIT_WARNINGS : EXIT_FINE;
}

static void pbs_doctor_fini(void *settings)
{
    struct doctor *d = settings;

    free(d->findings);
    conf_destroy(d->conf);
}

const struct cmd command = {
    .options = {.program = "pbs_doctor", CMD_ROWS(rows)},
    .usage = "usage: pbs_doctor [-v] [-F json|default]\n",
    .usage_exit = EXIT_ERRORS,
    .size = sizeof(struct doctor),
    .run = pbs_doctor_run,
    .fini = pbs_doctor_fini,
};
