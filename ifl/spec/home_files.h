#ifndef HOME_FILES_H
#define HOME_FILES_H
/* The files directly in PBS_HOME that belong to no daemon: the daemon that starts first makes them (PBS
 * Administrator's Guide, "The PBS home directory"). */
#include <stddef.h>
#include <sys/types.h>

#include "err.h"

struct home_dir {
    const char *name; /* below PBS_HOME */
    mode_t mode;      /* exactly, whatever the umask is */
};

/* PBS_HOME itself (0755); pbs_environment, with the time zone if it is known and a plain PATH; pbs_version, rewritten
 * when it names another version; and these directories. What is there already is left as it is.
 * -1: errno of what could not be made, which the text names. */
int home_files_make(const char *home, const struct home_dir *dirs, size_t n, struct err *e);

#endif
