#ifndef COMPLEX_PORTS_H
#define COMPLEX_PORTS_H
/* Ports for private complexes, each claimed for one of them.
 *
 * A port without a listener may still be in use: a daemon is about to be started, or is dead until a test has seen
 * enough. So the complexes of a host, whatever user owns them, share a directory with a name for each of their ports:
 * PORT, a symbolic link to the complex's root. The claim holds as long as that root exists. Where there is no such
 * directory, or one that cannot be trusted, a port is only tested for a listener. */
#include <stdint.h>

#include "err.h"

struct complex_ports {
    const char *dir; /* directory of the claims; made at the first one */
    uint16_t first, count;
};

extern const struct complex_ports complex_ports; /* of this host */

/* Claim a port without a listener and without a claim for the complex in `root`, which must exist. EADDRINUSE: no
 * port is left. */
int complex_ports_claim(const struct complex_ports *p, const char *root, uint16_t *out, struct err *e);

/* Remove the claims of complexes that are gone, and those of `root` in any case (NULL: of none). Wait a few seconds
 * for other sweeps; what cannot be removed stays for the next sweep. */
void complex_ports_sweep(const struct complex_ports *p, const char *root);

#endif
