#ifndef CHANGE_H
#define CHANGE_H
/* The list of all objects by last change, and the parts of each that the store does not have yet.
 *
 * Every object of the server has a change_entry. Code that changes an object calls change_touch; the entry then
 * moves to the end of the list under the next number, so a watcher is only a cursor: "all after number n" is
 * the tail of the list. A removed object leaves its number, kind and name in a bounded ring (change_gone). The
 * same call marks which parts of the object the next batch must write.
 *
 * Numbers start at 1 in each epoch of the server. Loop thread only. All calls are O(1) but where said.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct change;

enum change_kind { /* the numbers of enum ifl_kind, which they become on the wire */
                   CHANGE_SERVER,
                   CHANGE_QUEUE,
                   CHANGE_JOB,
                   CHANGE_NODE,
                   CHANGE_RESV,
                   CHANGE_RESOURCE,
                   CHANGE_SCHED,
                   CHANGE_HOLD,
                   CHANGE_KIND_COUNT
};

/* Parts of an object to write. Watchers see every touch except change_store_only. */
enum change_part {
    PART_HOT = 1,   /* fields that change often: state, run, hosts */
    PART_ATTRS = 2, /* attributes that requests may set */
    PART_FIXED = 4, /* what never changes after creation */
    PART_ALL = 7,
    PART_NONE = 0 /* seen by watchers, not stored: derived values */
};

struct change_entry {                 /* read only outside change.c */
    struct change_entry *prev, *next; /* list by number */
    struct change_entry *dirty_next;  /* what the next batch takes */
    struct change_entry **dirty_link; /* the pointer in the dirty chain that points to this entry */
    uint64_t number;                  /* of the last touch; 0 never */
    unsigned char kind;               /* enum change_kind */
    unsigned char dirty;              /* enum change_part bits not yet in a batch */
};

struct change *change_create(size_t keep_gone); /* NULL no memory; remembers that many removed objects */
void change_destroy(struct change *c);

void change_init_entry(struct change_entry *e, enum change_kind kind);

/* Note a change of the object of this entry. */
void change_touch(struct change *c, struct change_entry *e, unsigned parts);
/* Store these parts without waking watchers. */
void change_store_only(struct change *c, struct change_entry *e, unsigned parts);

/* Remove the entry of an object, and keep (kind, name) for watchers if it was ever touched. The caller removes
 * the row (commit_remove_*). `name` is copied. */
void change_gone(struct change *c, struct change_entry *e, const char *name);

/* ---- for watchers */
uint64_t change_number(const struct change *c);                           /* of the last change; 0: none */
uint64_t change_number_of(const struct change *c, enum change_kind kind); /* of the last one of this kind */
/* First entry with a number above `after`, or NULL. O(entries above): it walks back from the end. */
struct change_entry *change_after(const struct change *c, uint64_t after);
struct change_entry *change_next(const struct change_entry *e);

/* Where a reader continues that reads the list in pieces: `at` is the first entry that it has not read, and moves on when that one is touched
 * or goes. NULL: it has read all that were there; change_after finds newer ones. In the list from change_pause to change_resume,
 * in the reader's memory. Each costs every touch a look, so only those who are in the middle of reading pause. */
struct change_pause {
    struct change_entry *at;
    struct change_pause *next, **link;
};
void change_pause(struct change *c, struct change_pause *p, struct change_entry *at);
/* Leave the list; `p` that is {0} is in none. Return `at`. */
struct change_entry *change_resume(struct change_pause *p);

struct change_gone {
    uint64_t number;
    enum change_kind kind;
    const char *name;
};
/* The oldest removal above `after`; false: none. */
bool change_gone_after(const struct change *c, uint64_t after, struct change_gone *out);
/* A cursor below this has missed removals and must begin again. */
uint64_t change_oldest_known(const struct change *c);

/* ---- for the writer */
/* Take the next dirty entry off the chain, oldest first; NULL: none. change_cleaned() returns its parts; after
 * that it is clean and may be touched again. */
struct change_entry *change_take_dirty(struct change *c);
unsigned change_cleaned(struct change_entry *e);
bool change_is_dirty(const struct change *c);

/* ^ Called at every change: the commit and the watchers each schedule their work for the end of the loop's
 * iteration. At most CHANGE_LISTENERS_MAX (the users are a fixed few); removed by `arg`. */
enum { CHANGE_LISTENERS_MAX = 4 };
void change_on_touch(struct change *c, void (*touched)(void *arg), void *arg);
void change_off_touch(struct change *c, void *arg);

#endif
