#ifndef DISK_H
#define DISK_H
/* Is there room where the MOM and its jobs write? Asked when something could not be written: the answer decides whether
 * it was the host's fault, which then drains, or the job's. */
#include <stdbool.h>
#include <stddef.h>

struct home;

/* Is one of mom_priv/jobs, spool, aux, $tmpdir and $jobdir_root full: no space for another run, or no inode? `why`, of `size` bytes, names it.
 * A disk that cannot be asked counts as full: it is broken. */
bool disk_is_full(const struct home *h, char *why, size_t size);

#endif
