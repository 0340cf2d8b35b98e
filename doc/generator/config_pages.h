#ifndef CONFIG_PAGES_H
#define CONFIG_PAGES_H
/* The lists of the manual pages of section 5, and what is made of the tables of the scheduler and of the MOM: options of sched_config,
 * directives of mom_priv/config. The storeys of these daemons are seen for their .def files alone. */
#include <stdio.h>

void config_pages_sched(FILE *f); /* sched_config.def */
void config_pages_mom(FILE *f);   /* mom_config.def, and the files of vnodes that lie beside it */

#endif
