#ifndef QMGR_APPLY_H
#define QMGR_APPLY_H
/* One command on one object of one server: the call, the output, the message when it fails. */
#include "qmgr_line.h"
#include "conn_pool.h"

struct qmgr_json;

struct qmgr_apply {
    const struct cmd_args *a;
    struct conn_pool *pool;
    bool silent;            /* -z: no error messages */
    struct qmgr_json *json; /* for what list shows */
};

/* Fetch the objects of a kind (enum mgr_obj) at connection `c`: the one named, or all (""); `wants` may be NULL. As
 * the pbs_stat functions return it; of schedulers only what was set. */
struct batch_status *qmgr_apply_fetch(int c, int object, const char *name, struct attrl *wants);
/* The reservations, to leave their queues out of what makes a configuration; NULL: there are none. Freed by pbs_statfree. */
struct batch_status *qmgr_apply_reservations(int c);
bool qmgr_apply_is_reserved(const struct batch_status *resvs, const struct batch_status *queue);

/* Apply a line to one object; "" is every object of that kind (or the server itself). Return 0, or the number of the
 * error, after a message. */
int qmgr_apply(const struct qmgr_apply *q, const struct qmgr_line *l, const char *name, const char *server);

/* Return 0 if there is such a queue or node, or the number of the error, after a message. */
int qmgr_apply_exists(const struct qmgr_apply *q, int object, const char *name, const char *server);

/* Call `found` for the names of all objects of a kind; for none where the server cannot be asked. Prints nothing. */
void qmgr_apply_names(const struct qmgr_apply *q, int object, const char *server,
                      void (*found)(void *to, const char *name), void *to);

#endif
