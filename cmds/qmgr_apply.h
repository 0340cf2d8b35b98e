#ifndef QMGR_APPLY_H
#define QMGR_APPLY_H
/* One command on one object of one server: the call, the output, the message when it fails. */
#include "qmgr_line.h"
#include "session.h"

struct qmgr_apply {
    const struct cmd_args *a;
    struct session *s;
    bool silent; /* -z: no error messages */
};

/* name: "" is every object of that kind (or the server itself). Returns 0, or the number of the error,
 * which has been said. */
int qmgr_apply(const struct qmgr_apply *q, const struct qmgr_line *l, const char *name, const char *server);

/* The names of all objects of a kind; none where the server cannot be asked. Says nothing. */
void qmgr_apply_names(const struct qmgr_apply *q, int object, const char *server,
                      void (*found)(void *to, const char *name), void *to);

#endif
