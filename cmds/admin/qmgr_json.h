#ifndef QMGR_JSON_H
#define QMGR_JSON_H
/* qmgr -F json: what a line with list shows as one document, in the form of qstat -F json; of a line about several servers,
 * a document for each server after another. */
#include <stdbool.h>

#include "json_out.h"

struct batch_status;

struct qmgr_json {
    bool wanted;        /* -F json */
    bool is_open;       /* a document has been begun */
    const char *server; /* whose it is; the line's own text */
    struct json_out out;
};

/* The objects of a kind (enum mgr_obj) from `server`, at connection `c`, are next; there may be none. */
void qmgr_json_begin(struct qmgr_json *j, int c, int object, const char *server);

void qmgr_json_add(struct qmgr_json *j, int object, const struct batch_status *o);

/* The line has been done; where nothing has begun, nothing is written. */
void qmgr_json_end(struct qmgr_json *j);

#endif
