#ifndef STATUS_PRIVATE_H
#define STATUS_PRIVATE_H
/* Shared by status.c and status_query.c only. */
#include "shown.h"
#include "status.h"

struct status {
    struct site *site;
    struct reader *reader; /* NULL: no history */
    struct shown *shown;
};

#endif
