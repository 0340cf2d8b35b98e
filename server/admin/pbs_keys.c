/* pbs_keys: the certificates of a complex. doc/man/pbs_keys.8.
 *
 * list, issue, renew, revoke, token and ca work on the files of the CA, on the server's host, and need no running
 * server; root becomes the account that owns them first, so that a server that is not root can go on with what
 * is written. join and trust are for the other hosts: they speak to the server. */
#include <errno.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ca.h"
#include "cert_pair.h"
#include "certs.h"
#include "conf.h"
#include "file.h"
#include "host_address.h"
#include "join_ask.h"
#include "join_token.h"
#include "options.h"
#include "strbuf.h"

enum { OPT_DAYS, OPT_OUT, OPT_HOURS, OPT_TOKEN, OPT_HOST, OPT_CA };
enum { DAYS_MAX = 3653, HOURS_MAX = 24 * 366, HOURS = 24, ROLES_MAX = 4096 };

struct pbs_keys {
    struct conf *conf;
    char dir[PATH_MAX]; /* PBS_HOME/certs */
    long days, hours;
    const char *out, *token, *host, *ca;
};

static int pbs_keys_number(long *out, const char *text, long most, const char *what, struct err *e)
{
    char *end;

    *out = strtol(text, &end, 10);
    return *end || end == text || *out < 1 || *out > most
               ? err_set(e, EINVAL, "\"%s\" is not a number of %s: 1 to %ld", text, what, most)
               : 0;
}

static int pbs_keys_take(void *context, const struct option_row *row, const char *value, struct err *e)
{
    struct pbs_keys *k = context;

    switch (row->id) {
    case OPT_DAYS:
        return pbs_keys_number(&k->days, value, DAYS_MAX, "days", e);
    case OPT_HOURS:
        return pbs_keys_number(&k->hours, value, HOURS_MAX, "hours", e);
    case OPT_OUT:
        k->out = value;
        break;
    case OPT_TOKEN:
        k->token = value;
        break;
    case OPT_HOST:
        k->host = value;
        break;
    case OPT_CA:
        k->ca = value;
        break;
    }
    return 0;
}

static const struct option_row rows[] = {
    {0, "days", OPTION_VALUE, "number", "how long a certificate is to be good (365)", pbs_keys_take,
     OPT_DAYS},
    {0, "out", OPTION_VALUE, "directory", "where key and certificate go, instead of PBS_HOME/certs",
     pbs_keys_take, OPT_OUT},
    {0, "hours", OPTION_VALUE, "number", "how long a token is to be good (24)", pbs_keys_take, OPT_HOURS},
    {0, "token", OPTION_VALUE, "token", "what \"pbs_keys token\" has printed; @FILE: its first line",
     pbs_keys_take, OPT_TOKEN},
    {0, "host", OPTION_VALUE, "name", "join by this name instead of PBS_MOM_NODE_NAME or the host's",
     pbs_keys_take, OPT_HOST},
    {0, "ca", OPTION_VALUE, "fingerprint", "what \"pbs_keys ca\" has printed on the server's host",
     pbs_keys_take, OPT_CA},
};

static const struct options options = {
    .program = "pbs_keys",
    .operands =
        "list | issue role | renew [role] | revoke name | token host | join server | ca | trust server",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0]};

/* Root becomes the owner of the CA's files. */
static int become_owner(const struct pbs_keys *k, struct err *e)
{
    struct stat st;

    if (stat(k->dir, &st) < 0)
        return err_errno(
            e, errno, "cannot read %s: is this the server's host, and was the server started here?", k->dir);
    if (geteuid() != 0 || st.st_uid == 0)
        return 0;
    if (setgid(st.st_gid) < 0 || setuid(st.st_uid) < 0)
        return err_errno(e, errno, "cannot become user %u, who owns %s", (unsigned)st.st_uid, k->dir);
    return 0;
}

static int pbs_keys_begin(const struct pbs_keys *k, struct err *e)
{
    return become_owner(k, e) < 0 ? -1 : certs_lock(k->dir, e);
}

/* --- list */

static void date(int64_t s, char out[16])
{
    time_t t = (time_t)s;
    struct tm tm;

    strftime(out, 16, "%Y-%m-%d", localtime_r(&t, &tm));
}

static void pbs_keys_show(void *arg, const struct ca_entry *x)
{
    char from[16], to[16];

    date(x->from_s, from);
    date(x->to_s, to);
    printf("%-24s %-18s %-10s  %-10s  %s\n", x->role, x->serial, from, to, x->revoked ? "revoked" : "valid");
}

static int pbs_keys_do_list(struct pbs_keys *k, const char *operand, struct err *e)
{
    if (become_owner(k, e) < 0)
        return -1;
    printf("%-24s %-18s %-10s  %-10s  %s\n", "Role", "Serial", "From", "To", "State");
    return ca_list(k->dir, pbs_keys_show, NULL, e);
}

/* --- issue, renew, revoke */

static int make_out(const struct pbs_keys *k, struct err *e)
{
    struct stat st;

    if (!k->out || stat(k->out, &st) == 0)
        return 0;
    if (file_make_dirs(k->out, 0700, e) < 0)
        return -1;
    if (geteuid() == 0 && stat(k->dir, &st) == 0 && chown(k->out, st.st_uid, st.st_gid) < 0)
        return err_errno(e, errno, "cannot give %s to the owner of %s", k->out, k->dir);
    return 0;
}

static int pbs_keys_do_issue(struct pbs_keys *k, const char *role, struct err *e)
{
    int lock = make_out(k, e) < 0 ? -1 : pbs_keys_begin(k, e), rc;

    if (lock < 0)
        return -1;
    rc = ca_issue(k->dir, role, (int)k->days, CA_NEW_KEY, k->out ? k->out : k->dir, e);
    close(lock);
    if (rc == 0)
        printf("issued a key and a certificate of %s, good for %ld days, in %s\n", role, k->days,
               k->out ? k->out : k->dir);
    return rc;
}

/* "mom:n1" of "mom-n1.crt"; false: not a daemon's certificate. */
static bool role_of(const char *dir, const char *file, char *role, size_t n_role)
{
    struct cert_pair p = {0};
    char path[PATH_MAX + 300];
    size_t n = strlen(file);

    role[0] = '\0';
    if (n < 5 || strcmp(file + n - 4, ".crt") != 0 || !strcmp(file, "ca.crt") || !strcmp(file, "peers.crt"))
        return false;
    snprintf(path, sizeof path, "%s/%s", dir, file);
    if (cert_pair_read_cert(path, &p, NULL) == 0)
        cert_pair_common_name(p.cert, role, n_role);
    cert_pair_fini(&p);
    return role[0] != '\0';
}

static int renew_one(struct pbs_keys *k, const char *role, struct err *e)
{
    if (ca_issue(k->dir, role, (int)k->days, CA_RENEW, k->dir, e) < 0)
        return -1;
    printf("renewed %s for %ld days\n", role, k->days);
    return 0;
}

static int renew_all(struct pbs_keys *k, struct err *e)
{
    DIR *d = opendir(k->dir);
    const struct dirent *f;
    char role[CA_ROLE_MAX];
    int rc = d ? 0 : err_errno(e, errno, "cannot read %s", k->dir);

    while (rc == 0 && (f = readdir(d))) {
        struct cert_paths p;

        if (!role_of(k->dir, f->d_name, role, sizeof role) || cert_pair_paths_set(&p, k->dir, role, NULL) < 0)
            continue;
        if (access(p.key, R_OK) < 0)
            printf("%s: its key is another user's; its daemon renews it\n", role);
        else
            rc = renew_one(k, role, e);
    }
    if (d)
        closedir(d);
    return rc;
}

static int pbs_keys_do_renew(struct pbs_keys *k, const char *role, struct err *e)
{
    int lock = pbs_keys_begin(k, e), rc;

    if (lock < 0)
        return -1;
    rc = role ? renew_one(k, role, e) : renew_all(k, e);
    close(lock);
    if (rc == 0)
        puts(
            "A daemon that runs shows it from its next start on; MOMs of other hosts renew theirs by themselves.");
    return rc;
}

static int pbs_keys_do_revoke(struct pbs_keys *k, const char *what, struct err *e)
{
    int lock = pbs_keys_begin(k, e), rc;
    size_t n = 0;

    if (lock < 0)
        return -1;
    rc = ca_revoke(k->dir, what, &n, e);
    close(lock);
    if (rc == 0)
        printf(
            "revoked %zu certificate%s; the server closes their connections within seconds, other hosts hear of it "
            "within a minute\n",
            n, n == 1 ? "" : "s");
    return rc;
}

/* --- token, join; ca, trust */

/* The server's address for other hosts. PBS_SERVER is only the server's name where two hosts share its work or where
 * PBS_SERVER_HOST_NAME is set; of two hosts it is the one that has made the token. */
static void print_address(const struct conf *c)
{
    const struct conf_host *pair = conf_pair(c);
    const struct conf_host *own = pair && host_address_is_own_name(pair[1].host) ? &pair[1] : pair;
    const char *host = own ? own->host : conf_server_host(c);
    bool is_v6 = strchr(host, ':') != NULL;

    if (own || conf_is_set(c, CONF_PBS_SERVER_HOST_NAME))
        printf("%s%s%s:%u", is_v6 ? "[" : "", host, is_v6 ? "]" : "", own ? own->port : conf_server_port(c));
    else
        printf("%s", conf_server(c));
}

static int pbs_keys_do_token(struct pbs_keys *k, const char *host, struct err *e)
{
    char token[JOIN_TOKEN + 1];
    int lock = pbs_keys_begin(k, e), rc;

    if (lock < 0)
        return -1;
    rc = join_token_make(k->dir, host, (int)k->hours, token, e);
    close(lock);
    if (rc < 0)
        return rc;
    printf("On %s, as root, once and within %ld hour%s:\n    pbs_keys join ", host, k->hours,
           k->hours == 1 ? "" : "s");
    print_address(k->conf);
    printf(" --token %s\n", token);
    return 0;
}

static int pbs_keys_do_ca(struct pbs_keys *k, const char *operand, struct err *e)
{
    char print[CA_FINGERPRINT + 1];

    if (ca_fingerprint(k->dir, print, e) < 0)
        return -1;
    printf("On a host of users, as root:\n    pbs_setup client ");
    print_address(k->conf);
    printf(" --ca %s\nIf that host has a pbs.conf:\n    pbs_keys trust ", print);
    print_address(k->conf);
    printf(" --ca %s\n", print);
    return 0;
}

/* Of a file: a token on a command line is seen by every user of the host while the command runs. */
static int read_token(const struct pbs_keys *k, char out[JOIN_TOKEN + 2], struct err *e)
{
    FILE *f;

    if (!k->token)
        return err_set(e, EINVAL,
                       "--token is missing: \"pbs_keys token HOST\" on the server's host prints one");
    snprintf(out, JOIN_TOKEN + 2, "%s", k->token);
    if (k->token[0] == '@') {
        f = fopen(k->token + 1, "re");
        if (!f || !fgets(out, JOIN_TOKEN + 2, f))
            out[0] = '\0';
        if (f)
            fclose(f);
        if (!out[0])
            return err_errno(e, errno, "cannot read the token in %s", k->token + 1);
        out[strcspn(out, "\r\n ")] = '\0';
    }
    return 0;
}

static int pbs_keys_do_join(struct pbs_keys *k, const char *server, struct err *e)
{
    char host[256], own[256] = "", token[JOIN_TOKEN + 2];
    const char *name = k->host ? k->host : conf_text(k->conf, CONF_PBS_MOM_NODE_NAME);
    struct join_ask a = {.certs = k->dir, .server = host, .token = token};

    if (read_token(k, token, e) < 0 ||
        conf_split_host(server, host, sizeof host, &a.port, conf_server_port(k->conf), e) < 0)
        return -1;
    if (!name) {
        if (gethostname(own, sizeof own - 1) < 0)
            return err_errno(e, errno, "cannot tell the host's name");
        own[strcspn(own, ".")] = '\0';
        name = own;
    }
    a.host = name;
    if (join_ask(&a, e) < 0)
        return err_prefix(e, "cannot join %s as %s", server, name);
    printf(
        "%s belongs to the complex of %s now: its key and certificate are in %s. pbs_mom may be started.\n",
        name, host, k->dir);
    return 0;
}

static int pbs_keys_do_trust(struct pbs_keys *k, const char *server, struct err *e)
{
    char host[256];
    struct join_ask a = {.certs = k->dir, .server = host};

    if (!k->ca)
        return err_set(e, EINVAL, "--ca is missing: \"pbs_keys ca\" on the server's host prints it");
    if (conf_split_host(server, host, sizeof host, &a.port, conf_server_port(k->conf), e) < 0)
        return -1;
    if (join_ask_authority(&a, k->ca, e) < 0)
        return err_prefix(e, "cannot fetch the CA of %s", server);
    printf("%s/ca.crt is the CA of %s: users of this host know the server by it.\n", k->dir, server);
    return 0;
}

static const struct {
    const char *name;
    int (*run)(struct pbs_keys *k, const char *operand, struct err *e);
    const char *operand; /* NULL: none; in brackets: as one likes */
} commands[] = {{"list", pbs_keys_do_list, NULL},       {"issue", pbs_keys_do_issue, "role"},
                {"renew", pbs_keys_do_renew, "[role]"}, {"revoke", pbs_keys_do_revoke, "name"},
                {"token", pbs_keys_do_token, "host"},   {"join", pbs_keys_do_join, "server"},
                {"ca", pbs_keys_do_ca, NULL},           {"trust", pbs_keys_do_trust, "server"}};

static int pbs_keys_run(struct pbs_keys *k, int n, char *operands[], struct err *e)
{
    for (size_t i = 0; n && i < sizeof commands / sizeof commands[0]; i++) {
        const char *wants = commands[i].operand;

        if (strcmp(commands[i].name, operands[0]) != 0)
            continue;
        if (n > 2 || (n == 2 && !wants))
            return err_set(e, EINVAL, "%s is one operand too many", operands[wants ? 2 : 1]);
        if (n == 1 && wants && wants[0] != '[')
            return err_set(e, EINVAL, "say which %s: pbs_keys %s %s", wants, operands[0], wants);
        return commands[i].run(k, n == 2 ? operands[1] : NULL, e);
    }
    return err_set(e, EINVAL, "say what to do: list, issue, renew, revoke, token, join, ca or trust");
}

static int print_help(void)
{
    struct strbuf text;

    strbuf_init(&text, 1 << 16);
    options_usage(&options, &text);
    fputs(strbuf_str(&text), stdout);
    strbuf_fini(&text);
    return 0;
}

int main(int argc, char *argv[])
{
    struct pbs_keys k = {.days = CA_SIGNED_DAYS, .hours = HOURS};
    struct err e = {0};
    int first, rc = -1;

    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return print_help();
    umask(022);
    if (argc == 2 && strcasecmp(argv[1], "--version") == 0)
        return conf_print_version();
    k.conf = conf_load(&e);
    if (k.conf)
        snprintf(k.dir, sizeof k.dir, "%s/certs", conf_text(k.conf, CONF_PBS_HOME));
    if (!e.code && options_parse(&options, argc, argv, &first, &k, &e) == 0) {
        rc = pbs_keys_run(&k, argc - first, argv + first, &e);
    }
    if (rc < 0)
        fprintf(stderr, "pbs_keys: %s\n", e.text);
    conf_destroy(k.conf);
    return fflush(stdout) == 0 && rc == 0 ? 0 : 1;
}
