#ifndef RUNDIR_H
#define RUNDIR_H
/* The directory of one run of a job on this host: the truth of what happens to it here.
 *
 *   mom_priv/jobs/<job id>.<run>/
 *     run        first the order: what to run, as whom, where (struct shep_order); written by the MOM before the
 *                shepherd begins. Behind it the shepherd's records: started, ended. Locked as long as it lives.
 *     <id>.SC    the job's script, owned by its user
 *     journal    by the MOM: events and steps that the records do not imply; mostly it is empty
 *     sock       where the shepherd listens when no MOM speaks to it
 *     tmpdir.name jobdir.name   where the job's directory has another name than the order says (rundir_moved.h)
 *     nodes tmp  put away by the shepherd of an earlier run (job_dirs.h), for the next one
 *
 * Files are few on purpose, and used again (rundir_pool.h): making and removing them is the largest part of what a short
 * job costs.
 *
 * A log is a sequence of XDR items, each behind its length; a torn last item (crash while writing) is not
 * there for a reader. MOM live and MOM recovering read through the same functions. Directory mode 0711, so
 * that the owner reaches the script; the other files are 0600.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "err.h"
#include "rpc_buf.h"

struct shep_order;
struct strbuf;

enum { RUNDIR_PATH_MAX = 4096 }; /* what a packet to the zygote holds (shepherd/zygote.h) */

#define RUNDIR_RUN     "run"
#define RUNDIR_JOURNAL "journal"
#define RUNDIR_SOCKET  "sock"
#define RUNDIR_NODES   "nodes"
#define RUNDIR_TTY     "tty" /* name of the terminal of an interactive job */
#define RUNDIR_DISPLAY                                                                                       \
    "display" /* of X11, of an interactive job: number, screen, cookie in hexadecimal digits */
#define RUNDIR_TMP        "tmp"
#define RUNDIR_CHECKPOINT "checkpoint" /* with "app" in it; mom/mom/ckpt/images.h */

/* "<jobs_dir>/<id>.<run>" onto `out`. */
int rundir_path(struct strbuf *out, const char *jobs_dir, const char *id, unsigned run);

/* Make it, with an empty journal: what a crash left half-made is removed first. 0, or -1 and nothing of it is left. */
int rundir_create(const char *path, struct err *e);
int rundir_remove(const char *path, struct err *e); /* with all that is in it */

/* Its order and records are void from now on, but for a byte that keeps the file's block. -1: a shepherd holds the run,
 * or it cannot be done; it may still be removed. */
int rundir_void(const char *path);

/* The order, whole, into a file that is new or void. Reading: EBADMSG when it is torn or of a version we do not know; the caller zeroes *o before
 * and frees it with xdr_free in either case. */
int rundir_write_order(const char *path, const struct shep_order *o, struct err *e);
int rundir_read_order(const char *path, struct shep_order *o, struct err *e);

/* Open a log for appending, behind its last whole item; created if missing. A descriptor, or -1. */
int rundir_log_open(const char *path, const char *name, struct err *e);

/* No items from now on; the file stays. 0, also where there is none; -1: it cannot be done. */
int rundir_log_void(const char *path, const char *name);

/* Append one item in one write. `sync`: it is on disk when this returns 0. -1: there is nothing of it, and what is
 * appended later is read as well. */
int rundir_log_append(int fd, xdrproc_t codec, const void *item, bool sync, struct err *e);

/* Every whole item, in order; `item` is borrowed for the call. A missing file has none. -1: cannot be read, or
 * holds what cannot be decoded (EBADMSG). */
int rundir_log_read(const char *path, const char *name, xdrproc_t codec, size_t item_size,
                    void (*fn)(void *arg, void *item), void *arg, struct err *e);

/* The records behind the order. */
int rundir_records_read(const char *path, xdrproc_t codec, size_t item_size,
                        void (*fn)(void *arg, void *item), void *arg, struct err *e);

/* Return true if a shepherd holds this run: it locks the file before it does anything, and its end unlocks it. False also where there is no
 * file. */
bool rundir_is_held(const char *path);
int rundir_hold(int run_fd, struct err *e); /* -1 EWOULDBLOCK: another shepherd does */

#endif
