#ifndef QSUB_WHEN_H
#define QSUB_WHEN_H
/* qsub --when: when the job would start if it were submitted now; of several shapes one after the other.
 *
 * A shape is the job with other resources. The server checks each as a submission, its scheduler says the rest (pbs_when()). */
#include <stdbool.h>

#include "attrs.h"
#include "cmd.h"

enum { QSUB_WHEN_MAX = 32 }; /* shapes of one call; a choice: each is a question to the scheduler */

struct qsub_when {
    const struct cmd_args *a;
    int c;                   /* connection */
    const char *destination; /* a queue, or NULL */
    bool json;
    long long first_s; /* when the first shape would start; 0: not known */
    bool is_next;      /* one has been shown */
    int code;          /* PBSE_* of the last shape that was refused, else 0 */
};

/* Ask about the job with these attributes and show the answer; `resources` (-l of --or, or NULL) take the place of those of the same
 * name. extend: as of pbs_submit. Return 0; what is refused is shown, and is in `code`. Return PBSE_FORCE_QSUB_UPDATE with nothing shown. */
int qsub_when_show(struct qsub_when *w, const struct attrs *job, const struct attrs *resources,
                   const char *extend);

#endif
