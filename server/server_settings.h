#ifndef SERVER_SETTINGS_H
#define SERVER_SETTINGS_H
/* What pbs_server is told before it begins: pbs.conf and its command line. */
#include <stdbool.h>
#include <stdint.h>

#include "conf.h"
#include "err.h"
#include "store.h"

struct server_settings {
    struct conf *conf;
    char home[4096];
    char name[256]; /* of the server, as in job identifiers: first label of its host */
    char lock[4200], socket[4200], logs[4200], certs[4200], database[4200], password[4200];
    const char *log_file; /* -L, or NULL */
    uint16_t port;
    bool foreground;
    int scheduling;     /* -a: 0, 1; -1 not said */
    int64_t log_events; /* -e; -1 not said */
    bool show_version;
};

/* -1: what conf_load or the options say. */
int server_settings_read(struct server_settings *s, int argc, char *argv[], struct err *e);
void server_settings_free(struct server_settings *s);
/* Where the store is. */
struct store_where server_settings_store(const struct server_settings *s);
/* The folders below home that a server needs. */
int server_settings_make_dirs(const struct server_settings *s, struct err *e);

#endif
