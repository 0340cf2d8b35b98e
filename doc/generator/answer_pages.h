#ifndef ANSWER_PAGES_H
#define ANSWER_PAGES_H
/* The lists of the manual pages that say what an answer means: exit statuses of jobs, states, reasons in comments. The scheduler's
 * storey is seen for reason.def alone. */
#include <stdio.h>

void answer_pages_exit_status(FILE *f); /* exit_status.def */
void answer_pages_states(FILE *f);      /* letters and substates of states.def */
void answer_pages_comments(FILE *f);    /* reason.def, and the comments of the server */

#endif
