/* Only root makes files in `aux`, and gives a job's socket to the owner. So the owner of a socket says whose job it is, as long as no
 * other user can change the directory, which is checked. */
#include "pam_jobs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "trusted.h"

enum { NS_PER_S = 1000000000 };

static const char suffix[] = ".tm";

static int pam_jobs_newest_first(const void *a, const void *b)
{
    const struct pam_jobs_entry *x = a, *y = b;

    return x->began_ns != y->began_ns ? (x->began_ns < y->began_ns) - (x->began_ns > y->began_ns)
                                      : strcmp(y->name, x->name);
}

static bool pam_jobs_is_of(int dir, const char *name, uid_t uid, struct pam_jobs_entry *out)
{
    size_t len = strlen(name), end = sizeof suffix - 1;
    struct stat st;

    if (len <= end || len - end >= sizeof out->name || strcmp(name + len - end, suffix) != 0 ||
        fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISSOCK(st.st_mode) || st.st_uid != uid)
        return false;
    out->began_ns = (int64_t)st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
    snprintf(out->name, sizeof out->name, "%.*s", (int)(len - end), name);
    return true;
}

static int pam_jobs_add(struct pam_jobs *j, size_t *cap, const struct pam_jobs_entry *x, struct err *e)
{
    if (j->n == *cap) {
        size_t more = *cap ? 2 * *cap : 16;
        struct pam_jobs_entry *list = realloc(j->list, more * sizeof *list);

        if (!list)
            return err_set(e, ENOMEM, "no memory for the jobs of a user");
        j->list = list;
        *cap = more;
    }
    j->list[j->n++] = *x;
    return 0;
}

static int pam_jobs_read(struct pam_jobs *j, DIR *dir, uid_t uid, struct err *e)
{
    const struct dirent *d;
    struct pam_jobs_entry x;
    size_t cap = 0;

    while (j->n < PAM_JOBS_MAX && (d = readdir(dir)))
        if (pam_jobs_is_of(dirfd(dir), d->d_name, uid, &x) && pam_jobs_add(j, &cap, &x, e) < 0)
            return -1;
    if (j->n)
        qsort(j->list, j->n, sizeof *j->list, pam_jobs_newest_first);
    return 0;
}

int pam_jobs_find(struct pam_jobs *j, const char *aux, uid_t uid, struct err *e)
{
    DIR *dir;
    int rc;

    *j = (struct pam_jobs){0};
    dir = opendir(aux);
    if (!dir)
        return errno == ENOENT ? 0 : err_errno(e, errno, "cannot read %s", aux);
    rc = trusted_directory(aux, e) < 0 ? -1 : pam_jobs_read(j, dir, uid, e);
    closedir(dir);
    if (rc < 0)
        pam_jobs_fini(j);
    return rc;
}

void pam_jobs_fini(struct pam_jobs *j)
{
    free(j->list);
    *j = (struct pam_jobs){0};
}
