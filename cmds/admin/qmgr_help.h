#ifndef QMGR_HELP_H
#define QMGR_HELP_H
#include <stdio.h>

/* What there is to say of a command or topic; of "" which ones there are. */
void qmgr_help(FILE *f, const char *topic);

#endif
