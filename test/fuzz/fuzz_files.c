/* What a crash, or a full disk, may have left of the files of a run: they are read at the next start. */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <shep.h>

#include "file.h"
#include "fuzz.h"
#include "rpc_buf.h"
#include "rundir.h"

static char dir[] = "/tmp/cede-fuzz-XXXXXX";

static void leave(void)
{
    file_remove_tree(AT_FDCWD, dir, NULL);
}

static void put(const char *name, const char *bytes, size_t n)
{
    char path[sizeof dir + 64];
    int fd;

    if (strstr(dir, "XXXXXX")) {
        assert(mkdtemp(dir));
        atexit(leave);
    }
    snprintf(path, sizeof path, "%s/%s", dir, name);
    fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    assert(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    close(fd);
}

static void count(void *arg, void *item)
{
    ++*(size_t *)arg;
}

/* The journal, and what is appended to it after it was read. */
static void journal(const char *bytes, size_t n)
{
    shep_entry note = {.kind = SHEP_ENTRY_NOTE};
    size_t before = 0, after = 0;
    struct err e;
    int fd, rc;

    put(RUNDIR_JOURNAL, bytes, n);
    rc = rundir_log_read(dir, RUNDIR_JOURNAL, (xdrproc_t)xdr_shep_entry, sizeof note, count, &before, &e);
    if (rc < 0)
        return;
    fd = rundir_log_open(dir, RUNDIR_JOURNAL, &e);
    if (fd < 0)
        return;
    assert(rundir_log_append(fd, (xdrproc_t)xdr_shep_entry, &note, false, &e) == 0);
    close(fd);
    assert(rundir_log_read(dir, RUNDIR_JOURNAL, (xdrproc_t)xdr_shep_entry, sizeof note, count, &after, &e) ==
           0);
    assert(after == before + 1);
}

static void order(const char *bytes, size_t n)
{
    struct shep_order o = {0};
    size_t records = 0;
    struct err e;

    put(RUNDIR_RUN, bytes, n);
    rundir_read_order(dir, &o, &e);
    xdr_free((xdrproc_t)xdr_shep_order, &o);
    rundir_records_read(dir, (xdrproc_t)xdr_shep_record, sizeof(shep_record), count, &records, &e);
}

/* A journal of three notes, as it is written. */
static void make_journal(void (*add)(const char *bytes, size_t n))
{
    shep_entry note = {.kind = SHEP_ENTRY_NOTE};
    char *bytes = NULL;
    char path[sizeof dir + 64];
    size_t n = 0;
    struct err e;
    int fd;

    put(RUNDIR_JOURNAL, "", 0);
    fd = rundir_log_open(dir, RUNDIR_JOURNAL, &e);
    assert(fd >= 0);
    for (int i = 0; i < 3; i++)
        assert(rundir_log_append(fd, (xdrproc_t)xdr_shep_entry, &note, false, &e) == 0);
    close(fd);
    snprintf(path, sizeof path, "%s/" RUNDIR_JOURNAL, dir);
    assert(file_read(AT_FDCWD, path, 4096, &bytes, &n, &e) == 0);
    add(bytes, n);
    free(bytes);
}

const struct fuzz fuzz_files[] = {
    {.name = "journal", .take = journal, .make_seeds = make_journal},
    {.name = "order", .take = order, .make_seeds = make_journal},
    {NULL},
};
