#ifndef MODULE_PATH_H
#define MODULE_PATH_H
/* Where the modules of this release are (libauth_tls.so, libauth_munge.so).
 *
 * A module runs with the rights of the program that loads it. So its place follows from where this code was loaded from,
 * and never from the environment or from a pbs.conf that the environment names: beside libpbs.so; for a program that has
 * libpbs inside, in ../lib of its own directory; else in lib of the PBS_EXEC that /etc/pbs.conf names (a program of a
 * user, linked with libpbs.a). */
#include <stddef.h>

/* Absolute. A module that is in none of these places: the first of them, for dlopen to name in its error. */
void module_path(char *out, size_t size, const char *name);

#endif
