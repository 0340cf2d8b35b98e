#ifndef PLACE_H
#define PLACE_H
/* The placement of a job's chunks: "scatter:excl:group=rack". Each part at most once, in any order. */
#include <stdbool.h>

#include "err.h"

struct strbuf;

enum place_arrangement { PLACE_FREE, PLACE_PACK, PLACE_SCATTER, PLACE_VSCATTER, PLACE_ARRANGEMENT_COUNT };
enum place_sharing { PLACE_UNSAID, PLACE_SHARED, PLACE_EXCL, PLACE_EXCLHOST, PLACE_SHARING_COUNT };

enum { PLACE_GROUP_MAX = 128 };

struct place {
    enum place_arrangement arrangement; /* PLACE_FREE when not written */
    enum place_sharing sharing;         /* PLACE_UNSAID: the vnode's own sharing decides */
    char group[PLACE_GROUP_MAX];        /* resource whose value all vnodes share; "" none */
    bool arranged;                      /* an arrangement was written */
};

/* -1, PBSE_BADATVAL: an unknown word, a part that occurs twice, an empty group; the text names it. */
int place_parse(const char *text, struct place *out, struct err *e);

/* "pack:excl:group=rack"; an arrangement that was not written is left out, unless nothing else is left, then
 * "free". -1: the buffer has failed. */
int place_format(const struct place *p, struct strbuf *out);

#endif
