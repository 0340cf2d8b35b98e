#ifndef QSUB_ENV_H
#define QSUB_ENV_H
/* The environment that goes with a job, as the text of its Variable_List: PBS_O_* first, then what -v
 * names, then what -V adds. Commas and backslashes inside values are escaped. */
#include <stdbool.h>

#include "err.h"

struct strbuf;

struct qsub_env {
    char **environment;  /* "NAME=value", NULL at its end: that of the program */
    const char *workdir; /* PBS_O_WORKDIR */
    const char *host;    /* PBS_O_HOST; NULL: what the kernel calls this host */
    const char *wanted;  /* text of -v; NULL: none */
    bool all;            /* -V */
};

enum { QSUB_ENV_MAX = 16 << 20 };

/* Return -1, EINVAL: a variable that -v names without a value is not set, a quote is not closed, or a name is
 * ill-formed; the text says which. ENOMEM. */
int qsub_env_format(const struct qsub_env *q, struct strbuf *out, struct err *e);

#endif
