/* These places are asked, in the order in which a run needs them. Any of them full is enough. A home is its owner's, and
 * says nothing about the next job. */
#include "disk.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "mom_config.h"
#include "mom_home.h"

/* Less than a run's own files and a little output take. */
static const uint64_t least_bytes = 256 << 10;
enum { LEAST_INODES = 16 };

/* File systems without a count of inodes say 0 of 0. */
static bool is_full(const char *path, char *why, size_t size)
{
    struct statvfs v;

    if (statvfs(path, &v) < 0)
        snprintf(why, size, "%s: %s", path, strerror(errno));
    else if ((uint64_t)v.f_bavail * v.f_frsize < least_bytes)
        snprintf(why, size, "no space is left for %s", path);
    else if (v.f_files && v.f_favail < LEAST_INODES)
        snprintf(why, size, "no inodes are left for %s", path);
    else
        return false;
    return true;
}

bool disk_is_full(const struct home *h, char *why, size_t size)
{
    const char *root = h->config->jobdir_root;

    return is_full(h->jobs, why, size) || is_full(h->spool, why, size) || is_full(h->aux, why, size) ||
           is_full(h->config->tmpdir, why, size) || (root && is_full(root, why, size));
}
