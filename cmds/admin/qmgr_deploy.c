/* Two configurations of the same form, one fetched and one read, and what lies between them. Nothing is
 * changed before the whole file has been read and found good; the changes themselves go as qmgr_diff_apply
 * sends them. */
#include "qmgr_deploy.h"

#include "pbs_error.h"
#include "qmgr_diff.h"

static int compare(const struct qmgr_site *current, const struct qmgr_site *wanted, int c, bool apply)
{
    struct qmgr_diff d;
    int rc = 0;

    if (qmgr_diff_make(&d, current, wanted) < 0) {
        fprintf(stderr, "qmgr: no memory for the difference\n");
        rc = PBSE_SYSTEM;
    } else if (apply) {
        rc = qmgr_diff_apply(&d, c, stdout, stderr);
        if (rc == 0)
            printf("# %zu change%s made\n", d.n, d.n == 1 ? "" : "s");
    } else {
        qmgr_diff_show(stdout, &d);
        rc = d.n ? QMGR_DIFFERENT : 0;
    }
    qmgr_diff_fini(&d);
    return rc;
}

static int read_and_compare(struct qmgr_site *current, struct qmgr_site *wanted, int c, FILE *f,
                            const char *name, bool apply)
{
    struct err e = {0};
    size_t wrong;

    if (qmgr_site_fetch(current, c, &e) < 0) {
        fprintf(stderr, "qmgr: %s\n", e.text);
        return e.code;
    }
    wrong = qmgr_site_read(wanted, current, f, name, stderr);
    if (wrong) {
        fprintf(stderr, "qmgr: %s has %zu wrong line%s; nothing has changed\n", name, wrong,
                wrong == 1 ? "" : "s");
        return QMGR_BAD_FILE;
    }
    return compare(current, wanted, c, apply);
}

int qmgr_deploy(int c, FILE *f, const char *name, bool apply)
{
    struct qmgr_site *current = qmgr_site_create(), *wanted = qmgr_site_create();
    int rc = PBSE_SYSTEM;

    if (current && wanted)
        rc = read_and_compare(current, wanted, c, f, name, apply);
    else
        fprintf(stderr, "qmgr: no memory for two configurations\n");
    qmgr_site_destroy(wanted);
    qmgr_site_destroy(current);
    return rc;
}
