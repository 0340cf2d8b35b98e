#ifndef COMPLEX_PORTS_H
#define COMPLEX_PORTS_H
/* Ports for private complexes, each claimed for one of them.
 *
 * That nobody listens on a port does not mean that it is nobody's: a daemon may be about to be started, or be dead until a
 * test has seen enough. So the complexes of a host, whoever owns them, share a directory in which each port of theirs has a
 * name: PORT, a symbolic link to the complex's root. The claim holds as long as that root exists. Where there is no such
 * directory, or one that cannot be trusted, a port is only looked at.
 */
#include <stdint.h>

#include "err.h"

struct complex_ports {
    const char *dir; /* of the claims; made at the first one */
    uint16_t first, count;
};

extern const struct complex_ports complex_ports; /* of this host */

/* A port that nobody listens on and nobody has claimed; it is claimed for the complex in `root`, which must exist.
 * EADDRINUSE: there is none left. */
int complex_ports_claim(const struct complex_ports *p, const char *root, uint16_t *out, struct err *e);

/* Forget the claims of complexes that are gone, and those of `root` whatever it is now (NULL: of none). Waits a few
 * seconds for others who do so too; what cannot be forgotten stays for the next time. */
void complex_ports_sweep(const struct complex_ports *p, const char *root);

#endif
