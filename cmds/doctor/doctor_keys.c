/* Keys, certificates, MUNGE. See doctor.h.
 *
 * Files of PBS_HOME/certs are examined one by one: the rights of keys (*.key), dates and signer of certificates (*.crt). A
 * file that this user may not read is reported as skipped. MUNGE is loaded at run time, as libpbs does, and tried by a
 * credential that is made and decoded again. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <openssl/pem.h>
#include <openssl/x509.h>

#include "doctor.h"

enum { WARN_DAYS = 30, DAY_S = 24 * 3600, PATH_SIZE = 4500 };

static void certs_path(const struct doctor *d, const char *name, char out[static PATH_SIZE])
{
    snprintf(out, PATH_SIZE, "%s/certs%s%s", d->home, name ? "/" : "", name ? name : "");
}

/* Call `look` for each file of the folder whose name ends with `end`. */
static void each_file(struct doctor *d, const char *end, void (*look)(struct doctor *d, const char *path))
{
    char folder[PATH_SIZE], path[2 * PATH_SIZE];
    struct dirent *entry;
    DIR *dir;

    certs_path(d, NULL, folder);
    dir = opendir(folder);
    if (!dir && errno == EACCES)
        doctor_skip(d, "%s may not be read", folder);
    while (dir && (entry = readdir(dir))) {
        size_t n = strlen(entry->d_name), k = strlen(end);

        if (n <= k || strcmp(entry->d_name + n - k, end) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        look(d, path);
    }
    if (dir)
        closedir(dir);
}

static X509 *read_certificate(struct doctor *d, const char *path)
{
    FILE *f = fopen(path, "re");
    X509 *x = f ? PEM_read_X509(f, NULL, NULL, NULL) : NULL;

    if (!f)
        doctor_skip(d, "%s: %s", path, strerror(errno));
    else if (!x)
        doctor_fail(d, "%s is not a certificate", path);
    if (f)
        fclose(f);
    return x;
}

/* Without a CA certificate a host reaches nothing over TCP. On the server's own host local commands need none. */
void doctor_ca(struct doctor *d)
{
    char path[PATH_SIZE], folder[PATH_SIZE];
    struct stat st;

    certs_path(d, "ca.crt", path);
    certs_path(d, NULL, folder);
    if (stat(folder, &st) == 0 && st.st_mode & 022)
        doctor_fail(d, "%s can be written to by others (mode %04o): any of them could be the server", folder,
                    (unsigned)(st.st_mode & 07777));
    if (stat(path, &st) == 0) {
        if (st.st_mode & 022)
            doctor_fail(d, "%s can be written to by others (mode %04o): any of them could be the server",
                        path, (unsigned)(st.st_mode & 07777));
    } else if (errno == ENOENT) {
        doctor_fail(d, "there is no %s", path);
    } else {
        doctor_skip(d, "%s: %s", path, strerror(errno));
    }
}

static void doctor_keys_check_key(struct doctor *d, const char *path)
{
    struct stat st;

    if (stat(path, &st) == 0 && st.st_mode & 077)
        doctor_fail(d, "the key %s can be read or written by others (mode %04o)", path,
                    (unsigned)(st.st_mode & 07777));
}

void doctor_key_rights(struct doctor *d)
{
    each_file(d, ".key", doctor_keys_check_key);
}

static void doctor_keys_check_dates(struct doctor *d, const char *path)
{
    X509 *x = read_certificate(d, path);
    int days = 0, seconds = 0;

    if (x && ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(x))) {
        if (days < 0 || seconds < 0)
            doctor_fail(d, "the certificate %s ended %d days ago", path, -days);
        else if (days < WARN_DAYS)
            doctor_warn(d, "the certificate %s ends in %d days", path, days);
    }
    if (x && X509_cmp_current_time(X509_get0_notBefore(x)) > 0)
        doctor_fail(
            d,
            "the certificate %s is not valid yet: it was made when a clock was ahead, or this one is behind",
            path);
    X509_free(x);
}

void doctor_dates(struct doctor *d)
{
    each_file(d, ".crt", doctor_keys_check_dates);
}

static void doctor_keys_check_signer(struct doctor *d, const char *path)
{
    char ca_path[PATH_SIZE];
    struct stat st;
    X509 *ca, *x;
    EVP_PKEY *key;

    certs_path(d, "ca.crt", ca_path);
    if (strcmp(path, ca_path) == 0 || strstr(path, "/peers.crt") || stat(ca_path, &st) < 0)
        return;
    ca = read_certificate(d, ca_path);
    x = read_certificate(d, path);
    key = ca ? X509_get0_pubkey(ca) : NULL;
    if (x && key && X509_verify(x, key) != 1)
        doctor_fail(d, "the certificate %s was not signed by %s", path, ca_path);
    X509_free(x);
    X509_free(ca);
}

void doctor_signed(struct doctor *d)
{
    each_file(d, ".crt", doctor_keys_check_signer);
}

/* A MOM makes its own where the CA's key is, and has none before it joins elsewhere. */
void doctor_node_certificate(struct doctor *d)
{
    const char *name = conf_text(d->conf, CONF_PBS_MOM_NODE_NAME);
    char path[PATH_SIZE], ca_key[PATH_SIZE], file[sizeof d->host + sizeof "mom-.crt"];
    struct stat st;

    if (name)
        snprintf(file, sizeof file, "mom-%s.crt", name);
    else
        snprintf(file, sizeof file, "mom-%.*s.crt", (int)strcspn(d->host, "."), d->host);
    certs_path(d, file, path);
    certs_path(d, "ca.key", ca_key);
    if (stat(path, &st) < 0 && errno == ENOENT && access(ca_key, F_OK) < 0)
        doctor_fail(d, "there is no certificate %s, so pbs_mom cannot start as the node of this name", path);
}

/* ---- MUNGE --------------------------------------------------------------------------------------------- */

/* The functions of libmunge, loaded where it is installed: a host without remote users needs none. MUNGE_OPT_SOCKET
 * is 8. */
struct munge_calls {
    void *(*ctx_create)(void);
    int (*ctx_set)(void *ctx, int option, ...);
    void (*ctx_destroy)(void *ctx);
    int (*encode)(char **cred, void *ctx, const void *bytes, int n);
    int (*decode)(const char *cred, void *ctx, void **bytes, int *n, uid_t *uid, gid_t *gid);
    const char *(*text)(int error);
};

static bool load_munge(struct munge_calls *m)
{
    const struct {
        const char *name;
        void **to;
    } calls[] = {{"munge_ctx_create", (void **)&m->ctx_create},   {"munge_ctx_set", (void **)&m->ctx_set},
                 {"munge_ctx_destroy", (void **)&m->ctx_destroy}, {"munge_encode", (void **)&m->encode},
                 {"munge_decode", (void **)&m->decode},           {"munge_strerror", (void **)&m->text}};
    void *library = dlopen("libmunge.so.2", RTLD_NOW | RTLD_LOCAL);

    for (size_t i = 0; library && i < sizeof calls / sizeof calls[0]; i++)
        if (!(*calls[i].to = dlsym(library, calls[i].name)))
            return false;
    return library != NULL;
}

/* Encode and decode a credential. Return 0, or MUNGE's error. */
static int try_munge(const struct doctor *d, const struct munge_calls *m)
{
    enum { OPTION_SOCKET = 8 };
    const char *socket = conf_text(d->conf, CONF_PBS_MUNGE_SOCKET);
    void *ctx = m->ctx_create(), *bytes = NULL;
    char *cred = NULL;
    uid_t uid;
    gid_t gid;
    int n, rc;

    if (socket)
        m->ctx_set(ctx, OPTION_SOCKET, socket);
    rc = m->encode(&cred, ctx, NULL, 0);
    if (rc == 0)
        rc = m->decode(cred, ctx, &bytes, &n, &uid, &gid);
    free(bytes);
    free(cred);
    m->ctx_destroy(ctx);
    return rc;
}

/* On the server's host only users of other hosts need MUNGE. */
void doctor_munge(struct doctor *d)
{
    struct munge_calls m = {0};
    int rc;

    if (!load_munge(&m)) {
        if (d->here & ON_SERVER)
            doctor_warn(d, "MUNGE is not installed: users of other hosts cannot show who they are");
        else
            doctor_fail(d, "MUNGE is not installed: the server cannot know who you are");
        return;
    }
    rc = try_munge(d, &m);
    if (rc && d->here & ON_SERVER)
        doctor_warn(d, "MUNGE does not work: %s; users of other hosts cannot show who they are", m.text(rc));
    else if (rc)
        doctor_fail(d, "MUNGE does not work: %s; the server cannot know who you are", m.text(rc));
}
