#ifndef WAL_ROOM_H
#define WAL_ROOM_H
/* Room in SQLite's write-ahead log before it is needed.
 *
 * A commit that makes the log longer has to write the file's size and blocks as well, and the disk is waited for twice: 250 us
 * against 100 us on ext4 without a journal. So the log grows by pieces of zeros, which a commit then overwrites. SQLite takes what
 * lies behind its last frame for an older log, as it does after each checkpoint: a frame of zeros is none (page 0, wrong salt).
 *
 * It also has the log checkpointed, as wal_autocheckpoint would: both need the hook of commits.
 */
#include <sqlite3.h>
#include <stdint.h>

struct wal_room {
    sqlite3 *db;
    int checkpoint_frames; /* of the log, from which on it is checkpointed */
    int frames;            /* in the log */
    int64_t bytes;         /* of the file, at least; 0: not known */
};

/* Follow the commits of this connection, which has no other hook. `r` is borrowed until it is closed. */
void wal_room_watch(struct wal_room *r, sqlite3 *db, int checkpoint_frames);

/* Have room for a usual batch. Called between two transactions. Where it cannot be made (a full disk) nothing is said: the commit
 * that needs it says so. */
void wal_room_make(struct wal_room *r);

#endif
