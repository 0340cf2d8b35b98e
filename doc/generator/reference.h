#ifndef REFERENCE_H
#define REFERENCE_H
/* The manual pages that are lists of what the tables of ifl/ hold: attributes by kind, resources,
 * keys and options of configuration files, exit statuses, states and comments. */
#include <stdio.h>

/* Write the page NAME.SECTION, as "pbs_resources.7". -1: there is no page of this name. */
int reference_write(FILE *f, const char *page);

/* The name of page i, or NULL behind the last. */
const char *reference_page(size_t i);

#endif
