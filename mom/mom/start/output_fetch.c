/* The first launch step of a run whose job has run on another host (act_start.c): the two output files come from the MOM of that host
 * by sis_fetch; one that was not written there is not made here. The other host removes nothing before output_fetch_confirm, which
 * is called when the journal has the note FETCHED; a MOM that dies before that begins again, and replaces what has come so far.
 *
 * `fetching` stays set when the files have come, for the confirmation; output_fetch_is_under_way is false then.
 *
 * Files are made in the spool, for the owner, under names that no other user can have taken (O_EXCL). */
#include "output_fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sis_fetch.h"
#include "file.h"
#include "mom_home.h"
#include "log.h"
#include "outputs.h"
#include "mom.h"
#include "pbs_error.h"
#include "mom_run.h"
#include "strbuf.h"

enum { PATH_LEN_MAX = 8192, N_FILES = 2 };

struct output_fetch {
    struct mom *m;
    struct run *run;
    struct sis_fetch *sis_fetch;
    output_fetch_fn *fn;
    bool arrived;
};

static const char *const files[N_FILES] = {"OU", "ER"};

bool output_fetch_is_wanted(const struct run *r)
{
    return !r->fetched && r->start.last_host[0] && !run_is_sister(r);
}

bool output_fetch_is_under_way(const struct run *r)
{
    return r->fetching && !r->fetching->arrived;
}

void output_fetch_stop(struct run *r)
{
    struct output_fetch *f = r->fetching;

    if (!f)
        return;
    r->fetching = NULL;
    sis_fetch_stop(f->sis_fetch);
    free(f);
}

/* ---- files */
static int make_file(const struct output_fetch *f, const char *suffix, struct err *e)
{
    const struct run *r = f->run;
    struct strbuf path;
    int fd;

    strbuf_init(&path, PATH_LEN_MAX);
    strbuf_addf(&path, "%s/%s.%s", f->m->home.spool, r->id, suffix);
    unlink(strbuf_str(&path));
    fd = open(strbuf_str(&path), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 || (geteuid() == 0 && fchown(fd, (uid_t)strtoul(r->owner_uid, NULL, 10),
                                            (gid_t)strtoul(r->owner_gid, NULL, 10)) < 0)) {
        err_errno(e, errno, "cannot write %s", path.s);
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    strbuf_fini(&path);
    return fd;
}

static int output_fetch_make(void *arg, size_t i, struct err *e)
{
    return make_file(arg, files[i], e);
}

/* Append this line to what will be the job's error file. */
static void say_missing(struct output_fetch *f, const char *why)
{
    struct strbuf text;
    struct err e = {0};
    int fd = make_file(f, outputs_error_suffix(f->run), &e);

    strbuf_init(&text, PATH_LEN_MAX);
    strbuf_addf(&text, "=>> PBS: what this job had written before is missing: it is on %s, %s\n",
                sis_fetch_service(f->sis_fetch), why);
    log_event(LOGC_JOB, LOGE_ERROR, f->run->id, "%.*s", (int)(text.len - 1), text.s);
    if (fd < 0 || file_write_all(fd, text.s, text.len, &e) < 0)
        log_err(LOGC_JOB, f->run->id, &e, "its error file does not say that earlier output is missing");
    if (fd >= 0)
        close(fd);
    strbuf_fini(&text);
}

/* ---- the end */
static void output_fetch_on_over(void *arg, const struct err *why)
{
    struct output_fetch *f = arg;
    struct run *r = f->run;
    struct mom *m = f->m;
    output_fetch_fn *fn = f->fn;

    if (why) {
        say_missing(f, why->text);
        output_fetch_stop(r);
    } else {
        log_event(LOGC_JOB, LOGE_DEBUG, r->id, "fetched the output of the run before from %s",
                  sis_fetch_service(f->sis_fetch));
        f->arrived = true;
    }
    fn(m, r);
}

void output_fetch_confirm(struct run *r)
{
    if (r->fetching && r->fetching->sis_fetch)
        sis_fetch_confirm(r->fetching->sis_fetch, &r->fetching->sis_fetch);
}

int output_fetch_begin(struct mom *m, struct run *r, output_fetch_fn *fn, struct err *e)
{
    struct output_fetch *f = calloc(1, sizeof *f);

    if (!f)
        return err_set(e, PBSE_SYSTEM, "no memory for the output of job %s", r->id);
    *f = (struct output_fetch){.m = m, .run = r, .fn = fn};
    f->sis_fetch = sis_fetch_begin(m, r,
                                   &(struct sis_fetch_spec){.from = r->start.last_host,
                                                            .files = files,
                                                            .n_files = N_FILES,
                                                            .make = output_fetch_make,
                                                            .over = output_fetch_on_over,
                                                            .arg = f},
                                   e);
    if (!f->sis_fetch) {
        free(f);
        return -1;
    }
    r->fetching = f;
    return 0;
}
