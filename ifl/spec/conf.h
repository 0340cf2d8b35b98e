#ifndef CONF_H
#define CONF_H
/* pbs.conf: where everything is, and which variables of the environment override it.
 *
 * One file of NAME=value lines, /etc/pbs.conf or what PBS_CONF_FILE names; a variable of the same name in the
 * environment overrides it where the row says so. Keys are rows of conf.def: a daemon, a command and the
 * manual read the same table. Unknown names are ignored, because shell scripts share the file.
 *
 * A conf never changes after it was loaded; several threads may read it.
 */
#include <stdbool.h>
#include <stdint.h>

#include "err.h"

#define CONF_PATH "/etc/pbs.conf"

enum { CONF_FILE_MAX = 1 << 20 };

enum conf_type {
    CONF_TEXT,
    CONF_NAME, /* a host or node name without a port */
    CONF_PORT, /* 1 to 65535; a number out of this range is ignored, the default holds */
    CONF_INT,  /* a whole number; anything else is ignored, the default holds */
    CONF_BOOL  /* a number, true if not 0 */
};

#define CONF(name, ...) CONF_##name,
enum conf_key {
#include "conf.def"
    CONF_KEY_COUNT
};
#undef CONF

struct conf_row {
    const char *name;
    enum conf_type type;
    const char *preset;   /* what holds when it is not set; NULL: nothing */
    bool env;             /* the environment overrides the file */
    const char *sentence; /* for the manual */
};
const struct conf_row *conf_row(enum conf_key k);

struct conf;

/* Looks a variable up: getenv, or a substitute for tests. */
typedef const char *conf_getenv(const char *name);

/* Read the file that the environment names, then the environment. NULL and e->code
 *   an errno  the file cannot be read (text: path and reason); a missing file is an error only if the
 *             environment does not give the three required keys
 *   PBSE_BADATVAL "pbsconf error: pbs conf variables not found: NAMES" for PBS_HOME, PBS_EXEC, PBS_SERVER;
 *             "pbsconf error: illegal value for: NAME" for a name that holds ':'; what is wrong with the text
 *             of a server, primary or secondary */
struct conf *conf_load(struct err *e);

/* The conf of this process, which commands and the libpbs inside them share: loaded at the first call, or by `again`, which frees the
 * former one. Owned by conf.c. NULL as conf_load; then the former one holds, and the next call tries again where there is none.
 * One thread at a time: libpbs calls it under its lock, a command before it has threads. */
const struct conf *conf_shared(bool again, struct err *e);

/* The same as conf_load from a text instead of a file. */
struct conf *conf_parse(const char *text, conf_getenv *env, struct err *e);
void conf_destroy(struct conf *c);

const char *conf_text(const struct conf *c, enum conf_key k); /* borrowed; NULL: not set and no preset */
int64_t conf_int(const struct conf *c, enum conf_key k);      /* PORT, INT and BOOL; 0 when not set */
bool conf_is_set(const struct conf *c, enum conf_key k);      /* by file or environment */

/* The default server of a client, as people write it: PBS_SERVER of the environment, else PBS_DEFAULT there, else
 * PBS_SERVER of the file; "host" or "host:port". Never NULL after conf_load. */
const char *conf_server(const struct conf *c);

/* Return true if the environment names another server or port than the file. Then the file's entries about its own
 * server (the socket below PBS_HOME, PBS_SERVER_HOST_NAME, the failover pair) do not apply to conf_server(). */
bool conf_is_elsewhere(const struct conf *c);
/* The server that PBS_HOME is of: as the file names it; as the environment does, where that names PBS_HOME or there is no file. */
const char *conf_own_host(const struct conf *c);
uint16_t conf_own_port(const struct conf *c);

/* The failover pair: the primary, then the secondary; a port that is not given is conf_server_port(). */
struct conf_host {
    char host[256];
    uint16_t port;
};
enum { CONF_PAIR = 2 };
/* CONF_PAIR hosts, or NULL: PBS_PRIMARY and PBS_SECONDARY are not both set. */
const struct conf_host *conf_pair(const struct conf *c);

/* Host to connect to for it: PBS_SERVER_HOST_NAME, else the primary of a failover pair, else the host of
 * conf_server(); only the last where it is elsewhere. Port: of the server text, else PBS_BATCH_SERVICE_PORT. */
const char *conf_server_host(const struct conf *c);
uint16_t conf_server_port(const struct conf *c);

/* Answer --version: write "pbs_version = PBS_VERSION" of pbs.conf, or the default where pbs.conf cannot be read, to standard output. Return the exit
 * status of the program: 0, or 1 if it could not be written. */
int conf_print_version(void);

/* PBS_CORE_LIMIT in bytes; -1 for "unlimited"; -2 when it is not set or no size: the inherited limit holds. */
int64_t conf_core_bytes(const struct conf *c);

/* "host:port" in two: `host` (of `size` bytes) and the port, `otherwise` if there is none. [v6::addr]:port is
 * understood. -1, PBSE_BADATVAL: no host, a wrong port, or a host that does not fit. */
int conf_split_host(const char *text, char *host, size_t size, uint16_t *port, uint16_t otherwise,
                    struct err *e);

#endif
