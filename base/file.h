#ifndef FILE_H
#define FILE_H
/* Files that survive a crash, and opening of paths that other users may change at the same time.
 *
 * Every function: 0 (or a descriptor, close-on-exec) or -1 with e->code the errno and a text that names the
 * path. `dirfd` is an open directory or AT_FDCWD.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "err.h"

/* Replace `name` by these bytes: after a crash there is the old file or the new one, whole. Written to a
 * temporary beside it, synced, renamed, directory synced. */
int file_write_atomic(int dirfd, const char *name, const void *bytes, size_t n, mode_t mode, struct err *e);

/* As above without syncing: whole or old, but maybe old after a power cut. */
int file_write_quick(int dirfd, const char *name, const void *bytes, size_t n, mode_t mode, struct err *e);

/* The whole file as heap bytes with a NUL behind them; *n may be NULL. EFBIG: larger than `max` bytes.
 * Only regular files; a link as last component is followed. */
int file_read(int dirfd, const char *name, size_t max, char **bytes, size_t *n, struct err *e);
int file_read_fd(int fd, size_t max, char **bytes, size_t *n, struct err *e); /* from here to the end */

/* Append and sync: when it returns 0 the bytes are on disk. Created with `mode` if missing. */
int file_append(int dirfd, const char *name, const void *bytes, size_t n, mode_t mode, struct err *e);

int file_write_all(int fd, const void *bytes, size_t n, struct err *e); /* all of it; blocking descriptors */

/* Open without following a link in any component (openat2, or by steps where that may not be called); ELOOP if there is one,
 * EXDEV if `name` leaves dirfd (absolute names and .. are only allowed with AT_FDCWD). */
int file_open_nofollow(int dirfd, const char *name, int flags, mode_t mode, struct err *e);

int file_open_dir(int dirfd, const char *name, struct err *e); /* O_DIRECTORY; closes on exec */
int file_sync_dir(int dirfd, const char *name, struct err *e); /* names in it are on disk */

/* Make a directory and the missing ones above it; new ones get exactly `mode`, whatever the umask is.
 * One that exists is left as it is. */
int file_make_dirs(const char *path, mode_t mode, struct err *e);

/* Change the owner of a directory of root and of its direct entries to this user; entries of subdirectories are not
 * changed. A directory that root does not own is left as it is: its owner could have put files of others into it. It
 * must not be a link; below a dirfd no part of its name may be one, since deeper directories may have been handed
 * over before. ELOOP or ENOTDIR otherwise. */
int file_hand_over(int dirfd, const char *dir, uid_t uid, gid_t gid, struct err *e);

/* Remove a directory and all below it, however deep, without following links or crossing into another file system.
 * 0 also when it was not there. */
int file_remove_tree(int dirfd, const char *name, struct err *e);

/* Take the lock on `path` and write our pid into it; the lock lives as long as the descriptor returned, or a copy of it in a
 * child. The file gets `mode`, also when it is there. -1 with EWOULDBLOCK: another holds it, the text has its pid. While
 * the process of that pid is not there it is waited for, `patience_ms` (of file_lock: 100 ms). */
int file_lock(const char *path, mode_t mode, struct err *e);
int file_lock_within(const char *path, mode_t mode, int patience_ms, struct err *e);
/* Release the lock and close the descriptor, even if children have copies of the descriptor. */
void file_unlock(int fd);
/* Write the pid again, after a fork that kept the descriptor. */
int file_lock_set_pid(int fd, pid_t pid, struct err *e);
/* The pid of the process that holds the lock; 0: no process does; -1: unknown. Asking does not take the lock. */
pid_t file_lock_holder(const char *path, struct err *e);

/* The address of a unix socket whose path may be of any length: one too long for sun_path goes through an
 * open directory (/proc/self/fd/N/name). *dir is then a descriptor to close after bind() or connect(), else
 * -1. */
int file_socket_address(const char *path, struct sockaddr_un *address, socklen_t *length, int *dir,
                        struct err *e);

#endif
