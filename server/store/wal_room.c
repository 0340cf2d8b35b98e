/* The log grows by pieces. See wal_room.h. The file is SQLite's own handle of it: no descriptor is opened and closed here, as that
 * would drop locks. */
#include "wal_room.h"

#include <stddef.h>

enum {
    HEADER_BYTES = 32, /* of the log; SQLite's file format, section 4.1 */
    FRAME_BYTES = 24 + 4096,
    SPARE_FRAMES = 64, /* batches that are not full write 5 to 30. A choice */
    /* The first piece is small, since many servers write little; the last no longer than a disk takes in some milliseconds. */
    PIECE_MIN = 256 * 1024,
    PIECE_MAX = 1024 * 1024,
    ZEROS = 64 * 1024
};

static int wal_room_committed(void *arg, sqlite3 *db, const char *name, int frames)
{
    struct wal_room *r = arg;

    r->frames = frames;
    if (frames >= r->checkpoint_frames)
        sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return SQLITE_OK; /* a checkpoint that fails is tried again after the next commit */
}

void wal_room_watch(struct wal_room *r, sqlite3 *db, int checkpoint_frames)
{
    *r = (struct wal_room){.db = db, .checkpoint_frames = checkpoint_frames};
    sqlite3_wal_hook(db, wal_room_committed, r);
}

/* NULL: the log is not open yet, before the first transaction. */
static sqlite3_file *wal_room_file(const struct wal_room *r)
{
    sqlite3_file *f = NULL;

    if (sqlite3_file_control(r->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, (void *)&f) != SQLITE_OK)
        return NULL;
    return f && f->pMethods ? f : NULL;
}

/* Return how long the file is now. */
static int64_t wal_room_grow(sqlite3_file *f, int64_t from, int64_t piece)
{
    static const char zeros[ZEROS];

    for (int64_t n = 0; n < piece; n += ZEROS)
        if (f->pMethods->xWrite(f, zeros, ZEROS, from + n) != SQLITE_OK)
            return from + n;
    return from + piece;
}

void wal_room_make(struct wal_room *r)
{
    int64_t need = HEADER_BYTES + (int64_t)(r->frames + SPARE_FRAMES) * FRAME_BYTES;
    sqlite3_int64 size;
    sqlite3_file *f;

    if (need <= r->bytes || !(f = wal_room_file(r)) || f->pMethods->xFileSize(f, &size) != SQLITE_OK)
        return;
    r->bytes = size;
    if (need > size)
        r->bytes = wal_room_grow(f, size,
                                 size < PIECE_MIN   ? PIECE_MIN
                                 : size > PIECE_MAX ? PIECE_MAX
                                                    : size / ZEROS * ZEROS);
}
