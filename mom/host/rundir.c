/* The directory of a run; rundir.h says what is in it. Nothing here knows what the items mean.
 *
 * Every log is read whole and cut where the last item is torn: a reader does not see that item, a writer cuts
 * it off before it appends. One write for each item keeps it to one torn item at most. The lock on the file
 * `run` is the shepherd's sign of life: it goes with its process, however that ends. */
#include "rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <shep.h>

#include "file.h"
#include "rundir_moved.h"
#include "strbuf.h"

/* ITEM_HEAD: the length of an item, four bytes, the highest first. LOG_MAX is a choice, far above what a run writes: a longer file is
 * not read, so a damaged one cannot take all memory. */
enum { LOG_MAX = 256 << 20, ITEM_HEAD = 4, PATH_LEN_MAX = 8192 };

int rundir_path(struct strbuf *out, const char *jobs_dir, const char *id, unsigned run)
{
    return strbuf_addf(out, "%s/%s.%u", jobs_dir, id, run);
}

int rundir_remove(const char *path, struct err *e)
{
    return file_remove_tree(AT_FDCWD, path, e);
}

static int join(struct strbuf *out, const char *path, const char *name, struct err *e)
{
    strbuf_init(out, PATH_LEN_MAX);
    if (strbuf_addf(out, "%s/%s", path, name) < 0)
        return err_set(e, ENAMETOOLONG, "path too long: %s/%s", path, name);
    return 0;
}

static int open_in(const char *path, const char *name, int flags, struct err *e)
{
    struct strbuf full;
    int fd = -1;

    if (join(&full, path, name, e) == 0) {
        fd = open(full.s, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
            err_errno(e, errno, "cannot open %s", full.s);
    }
    strbuf_fini(&full);
    return fd;
}

/* A log without items: what has to be said in a hurry later, when a hundred jobs give way at once, finds its file. */
static int begin_journal(const char *path, struct err *e)
{
    int fd = open_in(path, RUNDIR_JOURNAL, O_WRONLY | O_CREAT, e);

    if (fd < 0)
        return -1;
    close(fd);
    return 0;
}

int rundir_create(const char *path, struct err *e)
{
    if (mkdir(path, 0711) < 0) {
        if (errno != EEXIST)
            return err_errno(e, errno, "cannot make %s", path);
        if (rundir_remove(path, e) < 0)
            return -1;
        if (mkdir(path, 0711) < 0)
            return err_errno(e, errno, "cannot make %s", path);
    }
    if (begin_journal(path, e) == 0)
        return 0;
    rmdir(path); /* it is empty, and this needs no descriptor, of which there may be none */
    return -1;
}

int rundir_void(const char *path)
{
    int rc, fd = open_in(path, RUNDIR_RUN, O_WRONLY, NULL);

    if (fd < 0)
        return -1;
    rc = flock(fd, LOCK_EX | LOCK_NB) < 0 || ftruncate(fd, 1) < 0 ? -1 : 0;
    close(fd);
    return rc;
}

int rundir_log_void(const char *path, const char *name)
{
    int fd = open_in(path, name, O_WRONLY | O_TRUNC, NULL);

    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    close(fd);
    return 0;
}

/* Over the byte that a void file has; so there is the whole order, or none. */
int rundir_write_order(const char *path, const struct shep_order *o, struct err *e)
{
    int rc, fd = open_in(path, RUNDIR_RUN, O_WRONLY | O_CREAT, e);
    struct stat st;

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) < 0 || (st.st_size > 1 && ftruncate(fd, 0) < 0)) {
        close(fd);
        return err_errno(e, errno, "cannot empty %s/" RUNDIR_RUN, path);
    }
    rc = rundir_log_append(fd, (xdrproc_t)xdr_shep_order, o, false, e);
    close(fd);
    return rc;
}

static int read_in(const char *path, const char *name, char **bytes, size_t *n, struct err *e)
{
    int rc, fd = open_in(path, name, O_RDONLY, e);

    if (fd < 0)
        return -1;
    rc = file_read_fd(fd, LOG_MAX, bytes, n, e);
    close(fd);
    return rc;
}

/* Where the first torn item begins: the length of what is whole. */
static size_t whole_length(const char *bytes, size_t n)
{
    size_t at = 0;

    while (n - at >= ITEM_HEAD) {
        size_t len = rpc_buf_get_u32(bytes + at);

        if (len > n - at - ITEM_HEAD)
            break;
        at += ITEM_HEAD + len;
    }
    return at;
}

/* Length of the first item with its head; 0: it is torn, or there is none. */
static size_t first_length(const char *bytes, size_t n)
{
    size_t len;

    if (n < ITEM_HEAD)
        return 0;
    len = rpc_buf_get_u32(bytes);
    return len > n - ITEM_HEAD ? 0 : ITEM_HEAD + len;
}

int rundir_read_order(const char *path, struct shep_order *o, struct err *e)
{
    char *bytes = NULL;
    size_t n = 0, order;
    int rc = 0;

    if (read_in(path, RUNDIR_RUN, &bytes, &n, e) < 0)
        return -1;
    order = first_length(bytes, n);
    if (!order || rpc_buf_decode(bytes + ITEM_HEAD, order - ITEM_HEAD, (xdrproc_t)xdr_shep_order, o) < 0)
        rc = err_set(e, EBADMSG, "%s/" RUNDIR_RUN " has no whole order", path);
    else if (o->protocol != SHEP_VERSION)
        rc = err_set(e, EBADMSG, "%s/" RUNDIR_RUN " is of version %u, we know %d", path, o->protocol,
                     SHEP_VERSION);
    free(bytes);
    return rc < 0 ? rc : rundir_moved_apply(path, o, e);
}

int rundir_log_open(const char *path, const char *name, struct err *e)
{
    char *bytes = NULL;
    size_t n = 0, whole;
    int fd = open_in(path, name, O_RDWR | O_CREAT | O_APPEND, e);

    if (fd < 0)
        return -1;
    if (file_read_fd(fd, LOG_MAX, &bytes, &n, e) < 0)
        goto fail;
    whole = whole_length(bytes, n);
    if (whole < n && ftruncate(fd, (off_t)whole) < 0) {
        err_errno(e, errno, "cannot cut the torn end off %s/%s", path, name);
        goto fail;
    }
    free(bytes);
    return fd;
fail:
    free(bytes);
    close(fd);
    return -1;
}

/* All of it, on disk if wanted, or nothing: readers take what follows a torn item for its rest. */
static int append_whole(int fd, const char *bytes, size_t n, bool sync, struct err *e)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return err_errno(e, errno, "cannot tell how long the records of a run are");
    if (file_write_all(fd, bytes, n, e) == 0) {
        if (!sync || fdatasync(fd) == 0)
            return 0;
        err_errno(e, errno, "cannot sync a record of a run");
    }
    if (ftruncate(fd, st.st_size) < 0)
        err_prefix(e, "a record stays in part");
    return -1;
}

int rundir_log_append(int fd, xdrproc_t codec, const void *item, bool sync, struct err *e)
{
    struct byte_buf b;
    int rc = -1;

    byte_buf_init(&b);
    if (byte_buf_add(&b, "\0\0\0", ITEM_HEAD) < 0 || rpc_buf_encode(&b, codec, item) < 0) {
        err_set(e, EINVAL, "a record of a run cannot be encoded");
    } else {
        rpc_buf_put_u32(b.bytes, (uint32_t)(b.len - ITEM_HEAD));
        rc = append_whole(fd, b.bytes, b.len, sync, e);
    }
    byte_buf_fini(&b);
    return rc;
}

static int each_item(const char *bytes, size_t n, xdrproc_t codec, void *item, size_t item_size,
                     void (*fn)(void *arg, void *item), void *arg)
{
    size_t at = 0;

    while (at < n) {
        size_t len = rpc_buf_get_u32(bytes + at);
        int rc;

        memset(item, 0, item_size);
        rc = rpc_buf_decode(bytes + at + ITEM_HEAD, len, codec, item);
        if (rc == 0)
            fn(arg, item);
        xdr_free(codec, item);
        if (rc < 0)
            return -1;
        at += ITEM_HEAD + len;
    }
    return 0;
}

static int read_items(const char *path, const char *name, bool skip_first, xdrproc_t codec, size_t item_size,
                      void (*fn)(void *arg, void *item), void *arg, struct err *e)
{
    char *bytes = NULL;
    void *item;
    size_t n = 0, skip;
    struct err why = {0};
    int rc;

    if (read_in(path, name, &bytes, &n, &why) < 0)
        return why.code == ENOENT ? 0 : err_set(e, why.code, "%s", why.text);
    item = malloc(item_size);
    skip = skip_first ? first_length(bytes, n) : 0;
    rc = item ? each_item(bytes + skip, whole_length(bytes + skip, n - skip), codec, item, item_size, fn, arg)
              : -1;
    if (rc < 0)
        err_set(e, item ? EBADMSG : ENOMEM, "%s/%s cannot be decoded", path, name);
    free(item);
    free(bytes);
    return rc;
}

int rundir_log_read(const char *path, const char *name, xdrproc_t codec, size_t item_size,
                    void (*fn)(void *arg, void *item), void *arg, struct err *e)
{
    return read_items(path, name, false, codec, item_size, fn, arg, e);
}

int rundir_records_read(const char *path, xdrproc_t codec, size_t item_size,
                        void (*fn)(void *arg, void *item), void *arg, struct err *e)
{
    return read_items(path, RUNDIR_RUN, true, codec, item_size, fn, arg, e);
}

int rundir_hold(int run_fd, struct err *e)
{
    if (flock(run_fd, LOCK_EX | LOCK_NB) < 0)
        return err_errno(e, errno, "the run is held by another shepherd");
    return 0;
}

bool rundir_is_held(const char *path)
{
    int fd = open_in(path, RUNDIR_RUN, O_RDONLY, NULL);
    bool held;

    if (fd < 0)
        return false;
    held = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    close(fd);
    return held;
}
