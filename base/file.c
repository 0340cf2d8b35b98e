/* Files that survive a crash: see file.h.
 *
 * A file is replaced by writing a temporary file with a unique name beside it, and renaming that. A temporary file
 * that a crash leaves behind is hidden (".NAME.PID.COUNT.tmp") and harmless. A directory that other users can write
 * to is never walked by path: entries are reached from open directories, and no link is followed. No state is kept
 * between calls. */
#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A failed call, with the errno it left and the name it was about. */
static int file_failed(struct err *e, const char *doing, const char *name)
{
    return err_errno(e, errno, "cannot %s %.300s", doing, name);
}

/* A short write is continued; a descriptor that does not block is not meant for this. */
int file_write_all(int fd, const void *bytes, size_t n, struct err *e)
{
    const char *p = bytes;

    while (n) {
        ssize_t done = write(fd, p, n);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return err_errno(e, errno, "cannot write");
        p += done;
        n -= (size_t)done;
    }
    return 0;
}

/* ".name.PID.COUNT.tmp" beside the target: hidden, and never the same twice at once. */
static int temporary_name(const char *name, char out[static PATH_MAX], struct err *e)
{
    static atomic_uint count; /* only makes names differ */
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    int n = snprintf(out, PATH_MAX, "%.*s.%s.%ld.%u.tmp", (int)(base - name), name, base, (long)getpid(),
                     atomic_fetch_add(&count, 1));

    if (n < 0 || n >= PATH_MAX || strlen(base) > NAME_MAX - 40)
        return err_set(e, ENAMETOOLONG, "cannot write %.300s: its name is too long", name);
    return 0;
}

int file_sync_dir(int dirfd, const char *name, struct err *e)
{
    int fd = file_open_dir(dirfd, name, e);
    int rc;

    if (fd < 0)
        return -1;
    rc = fsync(fd) < 0 ? file_failed(e, "sync directory", name) : 0;
    close(fd);
    return rc;
}

/* A new name is on disk when its directory is. */
static int sync_parent(int dirfd, const char *name, struct err *e)
{
    char parent[PATH_MAX];
    const char *slash = strrchr(name, '/');

    if (!slash)
        return file_sync_dir(dirfd, ".", e);
    snprintf(parent, sizeof parent, "%.*s", slash == name ? 1 : (int)(slash - name), name);
    return file_sync_dir(dirfd, parent, e);
}

/* O_EXCL and O_NOFOLLOW: a link that another user has put there is an error, not a target. A temporary file
 * that could not be completed is removed. */
static int file_replace_with(int dirfd, const char *name, const void *bytes, size_t n, mode_t mode, bool sync,
                             struct err *e)
{
    char temporary[PATH_MAX];
    int fd, rc = -1;

    if (temporary_name(name, temporary, e) < 0)
        return -1;
    fd = openat(dirfd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0)
        return file_failed(e, "create a temporary file for", name);
    if (fchmod(fd, mode) < 0)
        file_failed(e, "set the mode of", name);
    else if (file_write_all(fd, bytes, n, e) < 0)
        err_prefix(e, "%.300s", name);
    else if (sync && fsync(fd) < 0)
        file_failed(e, "sync", name);
    else if (renameat(dirfd, temporary, dirfd, name) < 0)
        file_failed(e, "replace", name);
    else
        rc = 0;
    close(fd);
    if (rc < 0)
        unlinkat(dirfd, temporary, 0);
    return rc;
}

int file_write_atomic(int dirfd, const char *name, const void *bytes, size_t n, mode_t mode, struct err *e)
{
    if (file_replace_with(dirfd, name, bytes, n, mode, true, e) < 0)
        return -1;
    return sync_parent(dirfd, name, e);
}

int file_write_quick(int dirfd, const char *name, const void *bytes, size_t n, mode_t mode, struct err *e)
{
    return file_replace_with(dirfd, name, bytes, n, mode, false, e);
}

/* The directory is synced only where the file is new: that costs as much again. */
int file_append(int dirfd, const char *name, const void *bytes, size_t n, mode_t mode, struct err *e)
{
    bool is_new = faccessat(dirfd, name, F_OK, 0) < 0;
    int fd = openat(dirfd, name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode);
    int rc = -1;

    if (fd < 0)
        return file_failed(e, "open for appending", name);
    if (file_write_all(fd, bytes, n, e) < 0)
        err_prefix(e, "%.300s", name);
    else if (fsync(fd) < 0)
        file_failed(e, "sync", name);
    else
        rc = 0;
    close(fd);
    return rc == 0 && is_new ? sync_parent(dirfd, name, e) : rc;
}

/* Larger by half, at least 4 KB; NULL: no memory, the old one stays. */
static char *file_grow(char *buffer, size_t *cap)
{
    size_t larger = *cap ? *cap + *cap / 2 : 4096;
    char *p = realloc(buffer, larger);

    if (p)
        *cap = larger;
    return p;
}

/* Read on behind `used` bytes. 1: some more, 0: the end, -1 with e. */
static int read_some(int fd, char **buffer, size_t *cap, size_t *used, struct err *e)
{
    char *p = *buffer;
    ssize_t got;

    if (*used + 1 >= *cap && !(p = file_grow(*buffer, cap)))
        return err_set(e, ENOMEM, "no memory to read a file");
    *buffer = p;
    do
        got = read(fd, p + *used, *cap - *used - 1);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return err_errno(e, errno, "cannot read");
    *used += (size_t)got;
    return got > 0;
}

/* One byte more than allowed is read before it is refused, and one byte is left for the NUL. */
int file_read_fd(int fd, size_t max, char **bytes, size_t *n, struct err *e)
{
    size_t used = 0, cap = 0;
    char *buffer = NULL;
    int rc;

    while ((rc = read_some(fd, &buffer, &cap, &used, e)) > 0)
        if (used > max) {
            rc = err_set(e, EFBIG, "larger than %zu bytes", max);
            break;
        }
    if (rc < 0) {
        free(buffer);
        return -1;
    }
    buffer[used] = '\0';
    *bytes = buffer;
    if (n)
        *n = used;
    return 0;
}

int file_read(int dirfd, const char *name, size_t max, char **bytes, size_t *n, struct err *e)
{
    int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a fifo must not hang us */
    struct stat st;
    int rc = -1;

    if (fd < 0)
        return file_failed(e, "open", name);
    if (fstat(fd, &st) < 0)
        file_failed(e, "examine", name);
    else if (!S_ISREG(st.st_mode))
        err_set(e, S_ISDIR(st.st_mode) ? EISDIR : EINVAL, "%.300s is not a regular file", name);
    else if (file_read_fd(fd, max, bytes, n, e) < 0)
        err_prefix(e, "%.300s", name);
    else
        rc = 0;
    close(fd);
    return rc;
}

/* Open one name of `n` bytes below a directory, no link; with a slash behind it a directory. */
static int open_step(int dir, const char *name, size_t n, bool has_slash, int flags, mode_t mode)
{
    char part[NAME_MAX + 1];
    struct stat st;
    int fd;

    if (n > NAME_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    snprintf(part, sizeof part, "%.*s", (int)n, name);
    flags |= O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | (has_slash ? O_DIRECTORY : 0);
    fd = openat(dir, n ? part : ".", flags, mode);
    if (fd < 0 && has_slash && errno == ENOTDIR) /* which O_DIRECTORY says of a link too */
        errno = fstatat(dir, part, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode) ? ELOOP : ENOTDIR;
    return fd;
}

/* Do what openat2 does below, for a process that may not call it: open one directory after the other. */
static int open_by_steps(int dirfd, const char *name, int flags, mode_t mode)
{
    bool is_below = dirfd != AT_FDCWD, is_last = false;
    int at;

    if (!*name || (is_below && *name == '/')) {
        errno = *name ? EXDEV : ENOENT;
        return -1;
    }
    at = openat(dirfd, *name == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (at >= 0 && !is_last) {
        const char *part = name + strspn(name, "/");
        size_t n = strcspn(part, "/"), slashes = strspn(part + n, "/");
        int next = -1, why = EXDEV;

        is_last = !part[n + slashes];
        if (!is_below || n != 2 || memcmp(part, "..", 2) != 0) {
            next = open_step(at, part, n, slashes > 0, is_last ? flags : O_PATH, mode);
            why = errno;
        }
        close(at);
        errno = why;
        at = next;
        name = part + n;
    }
    return at;
}

int file_open_nofollow(int dirfd, const char *name, int flags, mode_t mode, struct err *e)
{
    struct open_how how = {
        .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY),
        .mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? mode : 0,
        .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | (dirfd == AT_FDCWD ? 0 : RESOLVE_BENEATH),
    };
    int fd = (int)syscall(SYS_openat2, dirfd, name, &how, sizeof how);

    /* A sandbox that looks at the modes of files cannot see them here, and refuses the call (RestrictSUIDSGID= of systemd). */
    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        fd = open_by_steps(dirfd, name, flags, mode);
    return fd < 0 ? file_failed(e, "open", name) : fd;
}

int file_open_dir(int dirfd, const char *name, struct err *e)
{
    int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return fd < 0 ? file_failed(e, "open directory", name) : fd;
}

/* Set the mode through a descriptor of the new directory, not by its name: the owner of the directory above may have
 * put a link there since. */
static int set_mode_of_new(const char *path, mode_t mode, struct err *e)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int rc = fd < 0 || fchmod(fd, mode) < 0 ? file_failed(e, "set the mode of", path) : 0;

    if (fd >= 0)
        close(fd);
    return rc;
}

/* A directory that is there stays as it is, also by way of a link. */
static int file_make_dir(const char *path, mode_t mode, struct err *e)
{
    struct stat st;

    if (mkdir(path, mode | S_IRUSR) == 0)
        return set_mode_of_new(path, mode, e);
    if (errno != EEXIST)
        return file_failed(e, "make directory", path);
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return 0;
    return err_set(e, ENOTDIR, "cannot make directory %.300s: another file has its name", path);
}

/* From the root down, each prefix that ends before a slash. */
int file_make_dirs(const char *path, mode_t mode, struct err *e)
{
    char part[PATH_MAX];
    size_t n = strlen(path);

    if (n == 0 || n >= sizeof part)
        return err_set(e, n ? ENAMETOOLONG : ENOENT, "cannot make directory \"%.300s\"", path);
    memcpy(part, path, n + 1);
    for (size_t i = 1; i <= n; i++) {
        char c = part[i];

        if ((c != '/' && c) || part[i - 1] == '/')
            continue;
        part[i] = '\0';
        if (file_make_dir(part, mode, e) < 0)
            return -1;
        part[i] = c;
    }
    return 0;
}

/* Each level keeps a descriptor open, so that no path is followed twice; what lies too deep for that is lifted to the top,
 * and removed from there. */
enum { DEPTH_MAX = 100 };

struct file_removal {
    dev_t device; /* 0: not known yet */
    int top;      /* the directory that is removed */
    unsigned n_lifted;
};

/* Names that are taken are passed over; an empty directory may be replaced. */
static int lift(struct file_removal *r, int dirfd, const char *name, struct err *e)
{
    char up[32];

    do
        snprintf(up, sizeof up, ".lifted.%u", ++r->n_lifted);
    while (renameat(dirfd, name, r->top, up) < 0 &&
           (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR) && r->n_lifted);
    return faccessat(r->top, up, F_OK, AT_SYMLINK_NOFOLLOW) < 0 ? file_failed(e, "lift to remove", name) : 0;
}

static int remove_entries(int fd, struct file_removal *r, int depth, struct err *e);

/* Try it as a file first: most entries are, and unlinkat tells a directory apart. */
static int remove_entry(int dirfd, const char *name, struct file_removal *r, int depth, struct err *e)
{
    struct stat st;
    int fd, rc = -1;

    if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return file_failed(e, "remove", name);
    if (depth == DEPTH_MAX)
        return lift(r, dirfd, name, e);
    fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return file_failed(e, "remove", name);
    if (fstat(fd, &st) < 0)
        file_failed(e, "examine", name);
    else if (r->device && st.st_dev != r->device)
        err_set(e, EXDEV, "cannot remove %.300s: another file system is mounted there", name);
    else {
        r->device = st.st_dev;
        rc = remove_entries(fd, r, depth + 1, e); /* takes fd */
        fd = -1;
    }
    if (fd >= 0)
        close(fd);
    if (rc < 0 || unlinkat(dirfd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return rc;
    return file_failed(e, "remove directory", name);
}

/* Remove all entries of the directory `fd`, and close it. For the topmost directory this includes the entries that
 * are lifted meanwhile. */
static int remove_entries(int fd, struct file_removal *r, int depth, struct err *e)
{
    DIR *d = fdopendir(fd);
    struct dirent *entry;
    unsigned n_lifted;
    int rc = 0;

    if (!d) {
        file_failed(e, "list a directory", "to remove");
        close(fd);
        return -1;
    }
    if (depth == 1)
        r->top = fd;
    do {
        n_lifted = r->n_lifted;
        rewinddir(d);
        while (rc == 0 && (entry = readdir(d)))
            if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
                rc = remove_entry(fd, entry->d_name, r, depth, e);
    } while (rc == 0 && depth == 1 && n_lifted != r->n_lifted);
    closedir(d);
    return rc;
}

int file_remove_tree(int dirfd, const char *name, struct err *e)
{
    struct file_removal r = {.top = -1};

    return remove_entry(dirfd, name, &r, 0, e);
}

/* A holder of these locks writes one small file; LOCK_PATIENCE_MS is many times that and still unnoticed by a user. */
enum { LOCK_PAUSE_MS = 5, LOCK_PATIENCE_MS = 100 };

int file_lock_set_pid(int fd, pid_t pid, struct err *e)
{
    char text[24];
    int n = snprintf(text, sizeof text, "%ld\n", (long)pid);

    if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)n, 0) != n)
        return err_errno(e, errno, "cannot write the pid into the lock file");
    return 0;
}

static pid_t read_pid(int fd)
{
    char text[24] = "";
    ssize_t n = pread(fd, text, sizeof text - 1, 0);

    return n > 0 ? (pid_t)strtol(text, NULL, 10) : 0;
}

/* A lock on the whole file, owned by the open file description: threads share it, and a second lock by the same
 * process conflicts with it. */
static struct flock whole_file(short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET};
}

static bool is_there(pid_t pid)
{
    return pid > 0 && pid != getpid() && (kill(pid, 0) == 0 || errno == EPERM);
}

/* A child of a process that was killed has the lock until it executes its program, and the pid is written a moment after the lock is
 * taken. So it counts as held only when the process that the file names is there, or when it stays held. */
static int lock_now(int fd, int patience_ms)
{
    const struct timespec pause = {0, LOCK_PAUSE_MS * 1000000};
    struct flock want = whole_file(F_WRLCK);

    for (int waited_ms = 0; fcntl(fd, F_OFD_SETLK, &want) < 0; waited_ms += LOCK_PAUSE_MS) {
        if (errno != EAGAIN && errno != EACCES)
            return -1;
        if (is_there(read_pid(fd)) || waited_ms >= patience_ms) {
            errno = EWOULDBLOCK;
            return -1;
        }
        nanosleep(&pause, NULL);
    }
    return 0;
}

int file_lock(const char *path, mode_t mode, struct err *e)
{
    return file_lock_within(path, mode, LOCK_PATIENCE_MS, e);
}

/* The mode is set where the file was there with another one, if it is ours. */
int file_lock_within(const char *path, mode_t mode, int patience_ms, struct err *e)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode);
    struct stat st;

    if (fd < 0)
        return file_failed(e, "open lock file", path);
    if (fstat(fd, &st) == 0 && (st.st_mode & 07777) != mode && st.st_uid == geteuid())
        fchmod(fd, mode);
    if (lock_now(fd, patience_ms) < 0) {
        if (errno == EWOULDBLOCK)
            err_set(e, EWOULDBLOCK, "%.300s is locked by process %ld", path, (long)read_pid(fd));
        else
            file_failed(e, "lock", path);
        close(fd);
        return -1;
    }
    if (file_lock_set_pid(fd, getpid(), e) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

void file_unlock(int fd)
{
    struct flock none = whole_file(F_UNLCK);

    if (ftruncate(fd, 0) < 0 || fcntl(fd, F_OFD_SETLK, &none) < 0) {
        /* a pid that is left over is not a lock; and the lock ends with the descriptor */
    }
    close(fd);
}

/* A lock without a pid is one that is just being taken. */
pid_t file_lock_holder(const char *path, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct flock found = whole_file(F_WRLCK);
    pid_t pid = 0;

    if (fd < 0)
        return errno == ENOENT ? 0 : file_failed(e, "open lock file", path);
    if (fcntl(fd, F_OFD_GETLK, &found) < 0)
        pid = err_errno(e, errno, "cannot tell who holds %.300s", path);
    else if (found.l_type != F_UNLCK && (pid = read_pid(fd)) <= 0) /* its pid is not written yet */
        pid = err_errno(e, EAGAIN, "cannot tell who holds %.300s", path);
    close(fd);
    return pid;
}

/* The name behind the directory must fit into sun_path; only the path before it may be of any length. */
int file_socket_address(const char *path, struct sockaddr_un *address, socklen_t *length, int *dir,
                        struct err *e)
{
    char parent[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t n = strlen(path);
    int fd = -1;

    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (n == 0 || n >= sizeof parent)
        return err_set(e, n ? ENAMETOOLONG : ENOENT, "\"%.300s\" cannot be a socket", path);
    if (n < sizeof address->sun_path) {
        memcpy(address->sun_path, path, n + 1);
    } else {
        if (slash)
            snprintf(parent, sizeof parent, "%.*s", slash == path ? 1 : (int)(slash - path), path);
        else
            snprintf(parent, sizeof parent, ".");
        fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
            return file_failed(e, "open the directory of socket", path);
        n = (size_t)snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/%s", fd,
                             slash ? slash + 1 : path);
        if (n >= sizeof address->sun_path) {
            close(fd);
            return err_set(e, ENAMETOOLONG, "the last part of socket %.300s is too long", path);
        }
    }
    *length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + 1);
    *dir = fd;
    return 0;
}

/* The directory last: until then it is root's, and no other user can put anything into it. */
static int hand_over_all(DIR *d, const char *dir, uid_t uid, gid_t gid, struct err *e)
{
    const struct dirent *x;

    while ((x = readdir(d)))
        if (strcmp(x->d_name, "..") != 0 && strcmp(x->d_name, ".") != 0 &&
            fchownat(dirfd(d), x->d_name, uid, gid, AT_SYMLINK_NOFOLLOW) < 0)
            return file_failed(e, "hand over a file in", dir);
    return fchown(dirfd(d), uid, gid) < 0 ? file_failed(e, "hand over", dir) : 0;
}

static int open_own_dir(int dirfd, const char *dir, struct err *e)
{
    const int flags = O_RDONLY | O_DIRECTORY;
    int fd;

    if (dirfd != AT_FDCWD)
        return file_open_nofollow(dirfd, dir, flags, 0, e);
    fd = open(dir, flags | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? file_failed(e, "hand over", dir) : fd;
}

int file_hand_over(int dirfd, const char *dir, uid_t uid, gid_t gid, struct err *e)
{
    int fd = open_own_dir(dirfd, dir, e), rc = 0;
    struct stat st;
    DIR *d = NULL;

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) < 0 || !(d = fdopendir(fd))) {
        rc = file_failed(e, "hand over", dir);
        close(fd);
        return rc;
    }
    if (st.st_uid == 0 && uid != 0)
        rc = hand_over_all(d, dir, uid, gid, e);
    closedir(d);
    return rc;
}
