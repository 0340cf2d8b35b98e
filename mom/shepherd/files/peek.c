/* A piece of what a job has written so far, for qpeek. See peek.h.
 *
 * It is read through the descriptor that the job writes to, not by the file's name: the owner may have moved the file, or put another
 * one in its place. And it is opened with the owner's rights, so that no user sees more than that job's owner may read. Output that goes
 * to a terminal or a pipe cannot be read twice, and is refused. */

/* The descriptor of the job's output is open for writing only; /proc leads from it to the file itself. */
#include "peek.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <shep.h>

#include "identity.h"

static int peek_open(int fd, const struct shep_order *o, struct err *e)
{
    char path[64];
    int again;

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (identity_enter(o, e) < 0)
        return -1;
    again = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (again < 0)
        err_errno(e, errno, "the output of %s cannot be read", o->id);
    identity_leave(o);
    return again;
}

/* offset < 0 counts from the end; what lies outside of the file is moved to its nearest end. */
static uint64_t peek_begin_of(int64_t offset, uint64_t size)
{
    uint64_t back = offset < 0 ? 0 - (uint64_t)offset : 0;

    if (offset < 0)
        return back < size ? size - back : 0;
    return (uint64_t)offset < size ? (uint64_t)offset : size;
}

static int peek_fill(int fd, const struct shep_order *o, struct exec_peeked *out, struct err *e)
{
    ssize_t n = pread(fd, out->bytes.bytes_val, EXEC_PEEK_MAX, (off_t)out->offset);

    if (n < 0)
        return err_errno(e, errno, "the output of %s cannot be read", o->id);
    out->bytes.bytes_len = (u_int)n;
    return 0;
}

int peek_read(int fd, int64_t offset, const struct shep_order *o, struct exec_peeked *out, struct err *e)
{
    struct exec_peeked found = {0};
    struct stat st;
    int again, rc;

    if (fstat(fd, &st) < 0)
        return err_errno(e, errno, "the output of %s cannot be looked at", o->id);
    if (!S_ISREG(st.st_mode))
        return err_set(e, EINVAL, "the output of %s does not go to a file", o->id);
    again = peek_open(fd, o, e);
    if (again < 0)
        return -1;
    found.size = (u_quad_t)st.st_size;
    found.offset = peek_begin_of(offset, found.size);
    found.bytes.bytes_val = malloc(EXEC_PEEK_MAX);
    rc = found.bytes.bytes_val ? peek_fill(again, o, &found, e) : err_no_memory(e);
    close(again);
    if (rc < 0)
        free(found.bytes.bytes_val);
    else
        *out = found;
    return rc;
}
