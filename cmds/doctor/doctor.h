#ifndef DOCTOR_H
#define DOCTOR_H
/* What pbs_doctor's checks share: the host that is checked, and how a finding is reported.
 *
 * A check is a row of doctor_checks: its name, the hosts on which it is made, a function, and the remedy for what it
 * finds. The function reports each fault with doctor_warn or doctor_fail, and what it was not allowed to read with
 * doctor_skip; no report means that all is well. */
#include <stdbool.h>
#include <stddef.h>

#include "cmd.h"
#include "conf.h"

struct batch_status;
struct doctor;

enum doctor_state { DOCTOR_FINE, DOCTOR_SKIPPED, DOCTOR_WARNING, DOCTOR_ERROR, DOCTOR_STATES };

/* Hosts by what pbs.conf starts there; every host is a client too. */
enum doctor_where { ON_ANY = 0, ON_SERVER = 1, ON_SCHED = 2, ON_MOM = 4 };

struct doctor_check {
    const char *name;
    unsigned where; /* of enum doctor_where: one of them is enough */
    void (*run)(struct doctor *d);
    const char *remedy;
};
extern const struct doctor_check doctor_checks[];
extern const size_t doctor_n_checks;

struct doctor {
    struct cmd_args a; /* first, as of every command */
    bool json;
    bool verbose;
    /* the host */
    struct conf *conf;
    unsigned here;               /* enum doctor_where */
    const char *home, *mom_home; /* PBS_HOME, and that of the MOM */
    char host[256];              /* own name */
    int server;                  /* connection, or -1; made once, by doctor_server */
    bool asked_server;
    /* the findings */
    const struct doctor_check *check;
    struct doctor_finding *findings;
    size_t n_findings, count[DOCTOR_STATES];
};

struct doctor_finding {
    const struct doctor_check *check;
    enum doctor_state state;
    char text[ERR_TEXT_MAX];
};

void doctor_warn(struct doctor *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void doctor_fail(struct doctor *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void doctor_skip(struct doctor *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Return a connection to the server, made at the first call; -1: there is none, and the check `server` has reported
 * it. */
int doctor_server(struct doctor *d);
/* Return the value of an attribute of an answer, or NULL. */
const char *doctor_attr(const struct batch_status *s, const char *name);

/* Run a program of PBS_EXEC and pass each line of its output to `line`. Return its exit status; -1: it could not be
 * run. */
int doctor_run(struct doctor *d, char *const argv[], void (*line)(struct doctor *d, const char *text));

/* doctor_host.c */
void doctor_own_name(struct doctor *d);
void doctor_server_name(struct doctor *d);
void doctor_reverse(struct doctor *d);
void doctor_space(struct doctor *d);
void doctor_inodes(struct doctor *d);
void doctor_users(struct doctor *d);
void doctor_daemons(struct doctor *d);
/* doctor_complex.c */
void doctor_ports(struct doctor *d);
void doctor_reach(struct doctor *d);
void doctor_closed(struct doctor *d);
void doctor_clock(struct doctor *d);
void doctor_versions(struct doctor *d);
void doctor_nodes(struct doctor *d);
void doctor_confinement(struct doctor *d);
void doctor_resources(struct doctor *d);
/* doctor_keys.c */
void doctor_ca(struct doctor *d);
void doctor_key_rights(struct doctor *d);
void doctor_dates(struct doctor *d);
void doctor_signed(struct doctor *d);
void doctor_node_certificate(struct doctor *d);
void doctor_munge(struct doctor *d);
/* doctor_files.c */
void doctor_rights(struct doctor *d);
void doctor_store(struct doctor *d);
void doctor_delivery(struct doctor *d);

#endif
