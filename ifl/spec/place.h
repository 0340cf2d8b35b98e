#ifndef PLACE_H
#define PLACE_H
/* The placement of a job's chunks: "scatter:excl:group=rack". Each part at most once, in any order. */
#include <stdbool.h>

#include "err.h"

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

#endif
