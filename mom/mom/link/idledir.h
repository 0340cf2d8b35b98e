#ifndef IDLEDIR_H
#define IDLEDIR_H
/* SPOOL/idledir: a file of each user whose pbs_idled watches a display; its time of access is when that was touched last.
 * Anybody may write there, as in the spool itself: only a directory that is ours counts, and nothing in it is followed. */
#include <time.h>

void idledir_make(const char *spool);     /* why that failed is in the log */
time_t idledir_newest(const char *spool); /* 0: nobody, or there is none */

#endif
