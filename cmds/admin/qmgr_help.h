#ifndef QMGR_HELP_H
#define QMGR_HELP_H
#include <stdio.h>

/* Print the help on a command or topic; "" lists them. */
void qmgr_help(FILE *f, const char *topic);

#endif
