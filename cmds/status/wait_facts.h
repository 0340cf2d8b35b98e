#ifndef WAIT_FACTS_H
#define WAIT_FACTS_H
/* What the server itself knows of why a job is not considered for running yet: holds, dependencies, times, its queue. */
#include <stddef.h>

#include "pbs_ifl.h"

enum { WAIT_FACTS_MAX = 16, WAIT_FACT_TEXT_MAX = 256, WAIT_FACTS_DEPENDS_MAX = 8 };

struct wait_facts {
    char text[WAIT_FACTS_MAX][WAIT_FACT_TEXT_MAX]; /* sentences without a full stop */
    size_t n;
};

/* Fill `f` from the job as pbs_statjob shows it and its queue (NULL: not known). Jobs that it depends on are asked for on connection
 * `c`, at most WAIT_FACTS_DEPENDS_MAX; of those that the asker may not see no state is told. */
void wait_facts_list(int c, const struct batch_status *job, const struct batch_status *queue,
                     struct wait_facts *f);

#endif
