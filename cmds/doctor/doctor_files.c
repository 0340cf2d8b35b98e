/* The files below PBS_HOME, checked by the programs that know them. See doctor.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "file.h"

enum { PROGRAM_SIZE = 4400, FILE_MAX = 1 << 20 };

static void program(const struct doctor *d, const char *name, char out[static PROGRAM_SIZE])
{
    snprintf(out, PROGRAM_SIZE, "%s/sbin/%s", conf_text(d->conf, CONF_PBS_EXEC), name);
}

/* pbs_probe prints one line for each fault; what it could not read is not a fault. */
static void doctor_files_probe_line(struct doctor *d, const char *text)
{
    if (strstr(text, strerror(EACCES)))
        doctor_skip(d, "%s", text);
    else
        doctor_warn(d, "%s", text);
}

void doctor_rights(struct doctor *d)
{
    char path[PROGRAM_SIZE], name[] = "pbs_probe";
    char *argv[] = {path, NULL};

    program(d, name, path);
    if (doctor_run(d, argv, doctor_files_probe_line) < 0)
        doctor_fail(d, "%s cannot be run: the installation is not complete", path);
}

static void doctor_files_store_line(struct doctor *d, const char *text)
{
    if (strncmp(text, "pbs_store: ", 11) == 0)
        doctor_fail(d, "%s", text + 11);
}

void doctor_store(struct doctor *d)
{
    char path[PROGRAM_SIZE], folder[PROGRAM_SIZE], word[] = "status";
    char *argv[] = {path, word, NULL};

    snprintf(folder, sizeof folder, "%s/server_priv", d->home);
    if (access(folder, R_OK | X_OK) < 0 && errno == EACCES) {
        doctor_skip(d, "the store: %s may not be read", folder);
        return;
    }
    program(d, "pbs_store", path);
    if (doctor_run(d, argv, doctor_files_store_line) < 0)
        doctor_fail(d, "%s cannot be run: the installation is not complete", path);
}

/* ---- output of jobs ------------------------------------------------------------------------------------ */

static bool has_usecp(struct doctor *d)
{
    char path[PROGRAM_SIZE], *text = NULL;
    bool has = false;
    struct err e;

    snprintf(path, sizeof path, "%s/mom_priv/config", d->mom_home);
    if (file_read(AT_FDCWD, path, FILE_MAX, &text, NULL, &e) == 0)
        has = strncmp(text, "$usecp", 6) == 0 || strstr(text, "\n$usecp");
    else if (e.code == EACCES)
        doctor_skip(d, "%s", e.text);
    free(text);
    return has;
}

static bool is_in_path(const char *name)
{
    char path[PROGRAM_SIZE];
    const char *dirs[] = {"/usr/bin", "/bin", "/usr/local/bin"};

    for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", dirs[i], name);
        if (access(path, X_OK) == 0)
            return true;
    }
    return false;
}

void doctor_delivery(struct doctor *d)
{
    const char *scp = conf_text(d->conf, CONF_PBS_SCP), *rcp = conf_text(d->conf, CONF_PBS_RCP);

    if (scp && access(scp, X_OK) < 0)
        doctor_fail(d, "PBS_SCP names %s, which cannot be run: %s", scp, strerror(errno));
    if (!scp && !rcp && !is_in_path("scp") && !has_usecp(d))
        doctor_warn(
            d, "there is neither scp nor a $usecp line: output of jobs for other hosts stays in undelivered");
}
