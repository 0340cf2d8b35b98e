#ifndef CONFIG_PEOPLE_H
#define CONFIG_PEOPLE_H
/* Values of directives about who else uses this host: $kbd_idle, $max_load, $restrict_user_exceptions, $restrict_user_maxsysid and
 * $action multinodebusy. Each function: 0, or -1 with EINVAL and a text that says what would be right. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

/* "LOAD" or "LOAD suspend" */
int config_people_load(const char *value, double *load, bool *suspends, struct err *e);
/* "IDLE [INUSE [POLL]]" into seconds[3]; 10 and 1 where they are not said. */
int config_people_idle(const char *value, int64_t seconds[static 3], struct err *e);
/* Names or numbers of users, between commas, `max` at most. The host's databases are asked: at start and reload only. */
int config_people_users(const char *value, unsigned *uids, size_t max, size_t *n, struct err *e);
/* The highest number of a user of the system, as the host's login.defs says. */
unsigned config_people_maxsysid(void);
/* "multinodebusy SECONDS requeue" */
int config_people_multinode(const char *value, int64_t *wait_s, struct err *e);

#endif
