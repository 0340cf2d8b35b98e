#ifndef SERVER_SETTINGS_H
#define SERVER_SETTINGS_H
/* The settings of pbs_server at its start: pbs.conf and the command line. */
#include <stdbool.h>
#include <stdint.h>

#include "conf.h"
#include "err.h"
#include "store_files.h"

/* How to start (-t); the log shows the numbers. Running jobs continue with every value, except those that remove jobs. */
enum server_start {
    SERVER_START_HOT,
    SERVER_START_WARM,    /* as the store says: what is always done */
    SERVER_START_COLD,    /* without the jobs of the store */
    SERVER_START_CREATE,  /* without jobs and without configuration */
    SERVER_START_UPDATEDB /* the schema is brought up to date at every start */
};

/* Of two servers with one store; whose host it is decides (PBS_PRIMARY, PBS_SECONDARY). */
enum server_role { SERVER_ALONE, SERVER_PRIMARY, SERVER_SECONDARY };

struct server_settings {
    struct conf *conf;
    char home[4096];
    char name[256]; /* of the server, as in job identifiers: first label of its host */
    char lock[4200], socket[4200], logs[4200], certs[4200];
    struct store_files store;
    char active_note[4200]; /* exists while a secondary is active; holds its host's name */
    const char *log_file;   /* -L, or NULL */
    uint16_t port;
    enum server_role role;
    const char *role_host; /* this host, as pbs.conf calls it; NULL: alone */
    int64_t takeover_ms;   /* -F: how long a free store is left to the server that held it */
    bool serves_all;       /* began as root: every user of the host may connect; else only its own user */
    bool foreground;
    bool is_virtual;  /* --virtual: a simulator drives the time */
    bool is_local;    /* --local: no TCP */
    int64_t begin_s;  /* --begin: when simulated time begins; 0: now */
    bool lock_memory; /* -l */
    enum server_start start;
    int scheduling;     /* -a: 0, 1; -1 not said */
    int64_t log_events; /* -e; -1 not said */
    bool show_version;
};

/* -1: what conf_load or the options say; of a pair: EINVAL this host is in neither place, or the store is not one that
 * two hosts can share. */
int server_settings_read(struct server_settings *s, int argc, char *argv[], struct err *e);
/* A person at a terminal is asked before jobs are thrown away. False: the answer was no. */
bool server_settings_confirm(const struct server_settings *s);
void server_settings_free(struct server_settings *s);
/* Where the store is. */
struct store_where server_settings_store(const struct server_settings *s);

#endif
