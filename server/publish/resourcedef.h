#ifndef RESOURCEDEF_H
#define RESOURCEDEF_H
/* PBS_HOME/server_priv/resourcedef: the custom resources as text, for scripts that read them there.
 *
 * One a line, "NAME type=TYPE flag=LETTERS"; without letters the line ends behind the type. The store is the truth:
 * the file is written, never read. */
#include "resource.h"

/* Write the file again, whole or not at all; it is not synced, since the next start writes it again. `home` is
 * PBS_HOME. A file that cannot be written is logged and stops nothing. Loop thread. */
void resourcedef_write(const struct resource_table *t, const char *home);

#endif
