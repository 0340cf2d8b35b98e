/* See server_settings.h. */
#include "server_settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "options.h"
#include "units.h"

enum { OPT_FOREGROUND, OPT_HOME, OPT_LOG, OPT_EVENTS, OPT_PORT, OPT_ACTIVE, OPT_VERSION };

static int take(void *context, const struct option_row *row, const char *value, struct err *e)
{
    struct server_settings *s = context;

    switch (row->id) {
    case OPT_FOREGROUND:
        s->foreground = true;
        break;
    case OPT_VERSION:
        s->show_version = true;
        break;
    case OPT_HOME:
        snprintf(s->home, sizeof s->home, "%s", value);
        break;
    case OPT_LOG:
        s->log_file = value;
        break;
    case OPT_EVENTS:
        s->log_events = strtol(value, NULL, 0);
        break;
    case OPT_PORT:
        s->port = (uint16_t)strtoul(value, NULL, 10);
        if (!s->port)
            return err_set(e, 22, "-p %s is no port", value);
        break;
    case OPT_ACTIVE:
        if (strcasecmp(value, "true") != 0 && strcasecmp(value, "false") != 0)
            return err_set(e, 22, "bad -a option: %s (true or false)", value);
        s->scheduling = strcasecmp(value, "true") == 0;
        break;
    }
    return 0;
}

static const struct option_row rows[] = {
    {'N', "foreground", OPTION_ALONE, NULL, "stay in the foreground", take, OPT_FOREGROUND},
    {'d', "home", OPTION_VALUE, "dir", "PBS_HOME", take, OPT_HOME},
    {'L', "log", OPTION_VALUE, "file", "log file", take, OPT_LOG},
    {'e', "events", OPTION_VALUE, "mask", "events to log", take, OPT_EVENTS},
    {'p', "port", OPTION_VALUE, "port", "port to listen on", take, OPT_PORT},
    {'a', "active", OPTION_VALUE, "true|false", "set the attribute scheduling", take, OPT_ACTIVE},
    {0, "version", OPTION_ALONE, NULL, "print the version", take, OPT_VERSION},
};

static const struct options options = {
    .program = "pbs_server", .operands = "", .rows = rows, .n_rows = sizeof rows / sizeof rows[0]};

static void name_files(struct server_settings *s)
{
    const char *name = conf_server(s->conf);

    snprintf(s->name, sizeof s->name, "%.*s", (int)strcspn(name, ".:"), name);
    snprintf(s->lock, sizeof s->lock, "%s/server_priv/server.lock", s->home);
    snprintf(s->socket, sizeof s->socket, "%s/pbs_server.sock", s->home);
    snprintf(s->logs, sizeof s->logs, "%s/server_logs", s->home);
    snprintf(s->certs, sizeof s->certs, "%s/certs", s->home);
    snprintf(s->database, sizeof s->database, "%s/server_priv/cede.db", s->home);
    snprintf(s->password, sizeof s->password, "%s/server_priv/db_password", s->home);
}

int server_settings_read(struct server_settings *s, int argc, char *argv[], struct err *e)
{
    int first;

    *s = (struct server_settings){.scheduling = -1, .log_events = -1};
    if (options_parse(&options, argc, argv, &first, s, e) < 0)
        return -1;
    if (s->show_version)
        return 0;
    if (first < argc)
        return err_set(e, 22, "invalid operand: %s", argv[first]);
    s->conf = conf_load(e);
    if (!s->conf)
        return -1;
    if (!*s->home)
        snprintf(s->home, sizeof s->home, "%s", conf_text(s->conf, CONF_PBS_HOME));
    if (!s->port)
        s->port = conf_server_port(s->conf);
    name_files(s);
    return 0;
}

void server_settings_free(struct server_settings *s)
{
    conf_destroy(s->conf);
}

struct store_where server_settings_store(const struct server_settings *s)
{
    if (!conf_is_set(s->conf, CONF_PBS_DATA_SERVICE_HOST))
        return (struct store_where){.path = s->database};
    return (struct store_where){.host = conf_text(s->conf, CONF_PBS_DATA_SERVICE_HOST),
                                .port = (int)conf_int(s->conf, CONF_PBS_DATA_SERVICE_PORT),
                                .password_file = s->password};
}

int server_settings_make_dirs(const struct server_settings *s, struct err *e)
{
    static const struct {
        const char *name;
        mode_t mode;
    } dirs[] = {{"server_logs", 0755}, {"server_priv", 0750}, {"server_priv/accounting", 0755}};
    char path[4300];

    if (file_make_dirs(s->home, 0755, e) < 0)
        return -1;
    for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", s->home, dirs[i].name);
        if (file_make_dirs(path, dirs[i].mode, e) < 0)
            return -1;
    }
    return 0;
}
