#ifndef PBS_INFO_H
#define PBS_INFO_H
/* What pbs.conf says about servers: which one is meant, and how to reach it.
 *
 * The file is read at the first question and again by pbs_loadconf(1). Any thread.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "replaceable.h"

enum { PBS_INFO_SERVER_MAX = PBS_MAXSERVERNAME + PBS_MAXPORTNUM + 2, PBS_INFO_TARGETS = 2 };

/* The long texts are last: most of their bytes are never written, so their pages are never touched. */
struct pbs_info_target {
    char name[PBS_INFO_SERVER_MAX]; /* as it was named: host[:port] */
    char host[PBS_MAXHOSTNAME + 1];
    uint16_t port;
    char role[16]; /* the daemon whose certificate we can show: "sched"; "": we authenticate by MUNGE */
    bool
        other; /* a server that pbs.conf does not name, where peers.crt says which other complexes are trusted */
    bool of_pair;          /* it may be the standby; then the other one of the pair is tried */
    char socket[PATH_MAX]; /* try this first: the server named is the one of this pbs.conf; or "" */
    char certs[PATH_MAX];
    char munge_socket[PATH_MAX]; /* or "" */
};

/* The servers to try in turn for `server` ("host[:port]"; NULL, "", or the default one by its name: the failover pair,
 * where there is one). `out` need not be cleared.
 * Their number, or -1: PBSE_NOSERVER no server is named anywhere, else what is wrong with pbs.conf or the
 * name. */
__attribute__((visibility("hidden"))) int
pbs_info_targets(const char *server, struct pbs_info_target out[static PBS_INFO_TARGETS], struct err *e);

#endif
