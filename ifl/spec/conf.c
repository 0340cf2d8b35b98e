/* pbs.conf. See conf.h.
 *
 * Values are slots of one array, indexed by key: the file is read line by line, then the environment is
 * asked for each row. Only the rows know names. */
#include "conf.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <assert.h>

#include "file.h"
#include "pbs_error.h"
#include "strbuf.h"

struct conf {
    char *value[CONF_KEY_COUNT]; /* NULL: not set */
    char *default_server;
    char host[256];
    uint16_t port;
    struct conf_host own; /* the server that PBS_HOME is of; host[0] is '\0': as the environment says */
    struct conf_host pair[CONF_PAIR]; /* host[0] is '\0': there is none */
};

enum { NO_ENV, ENV };

#define CONF(name, type, preset, env, sentence) {#name, CONF_##type, preset, env, sentence},
static const struct conf_row rows[] = {
#include "conf.def"
};
#undef CONF

static_assert(sizeof rows / sizeof rows[0] == CONF_KEY_COUNT, "one row a key");

const struct conf_row *conf_row(enum conf_key k)
{
    return &rows[k];
}

static bool conf_is_number(const char *s, int64_t min, int64_t max)
{
    char *end;
    long long v;

    errno = 0;
    v = strtoll(s, &end, 10);
    return end != s && !*end && !errno && v >= min && v <= max;
}

/* Return true if this value counts, and not the default. */
static bool is_usable(const struct conf_row *r, const char *value)
{
    switch (r->type) {
    case CONF_PORT:
        return conf_is_number(value, 1, 65535);
    case CONF_INT:
    case CONF_BOOL:
        return conf_is_number(value, INT64_MIN, INT64_MAX);
    case CONF_TEXT:
    case CONF_NAME:
        break;
    }
    return *value != '\0';
}

static int conf_put(char **slot, const char *value, size_t n, struct err *e)
{
    char *copy = strndup(value, n);

    if (!copy)
        return err_set(e, PBSE_SYSTEM, "no memory for pbs.conf");
    free(*slot);
    *slot = copy;
    return 0;
}

static int conf_set(struct conf *c, enum conf_key k, const char *value, struct err *e)
{
    return is_usable(&rows[k], value) ? conf_put(&c->value[k], value, strlen(value), e) : 0;
}

/* CONF_KEY_COUNT: no such key. */
static enum conf_key conf_find(const char *name, size_t n)
{
    int k = 0;

    while (k < CONF_KEY_COUNT && (strncmp(rows[k].name, name, n) != 0 || rows[k].name[n]))
        k++;
    return (enum conf_key)k;
}

/* The value as the shell would see it: blanks around and one pair of quotes are gone. */
static void trim_value(const char **from, const char **to)
{
    while (*from < *to && isspace((unsigned char)**from))
        (*from)++;
    while (*to > *from && isspace((unsigned char)(*to)[-1]))
        (*to)--;
    if (*to - *from >= 2 && (**from == '"' || **from == '\'') && (*to)[-1] == **from) {
        (*from)++;
        (*to)--;
    }
}

static int conf_take_line(struct conf *c, const char *line, const char *end, struct err *e)
{
    const char *eq, *name_end;
    char value[PATH_MAX];
    enum conf_key k;

    while (line < end && isspace((unsigned char)*line))
        line++;
    if (end - line > 7 && !strncmp(line, "export ", 7))
        line += 7;
    eq = memchr(line, '=', (size_t)(end - line));
    if (!eq || *line == '#')
        return 0;
    for (name_end = eq; name_end > line && isspace((unsigned char)name_end[-1]); name_end--)
        ;
    eq++;
    trim_value(&eq, &end);
    if ((size_t)(end - eq) >= sizeof value)
        return 0;
    memcpy(value, eq, (size_t)(end - eq));
    value[end - eq] = '\0';
    k = conf_find(line, (size_t)(name_end - line));
    if (k < CONF_KEY_COUNT)
        return conf_set(c, k, value, e);
    if (name_end - line == 11 && !strncmp(line, "PBS_DEFAULT", 11) && !c->value[CONF_PBS_SERVER])
        return conf_set(c, CONF_PBS_SERVER, value, e); /* its old name */
    return 0;
}

static int conf_take_text(struct conf *c, const char *text, struct err *e)
{
    while (*text) {
        const char *end = strchrnul(text, '\n');

        if (conf_take_line(c, text, end, e) < 0)
            return -1;
        text = *end ? end + 1 : end;
    }
    return 0;
}

/* Note the server that the file names, before the environment overrides it. */
static int note_own(struct conf *c, conf_getenv *env, struct err *e)
{
    const char *home = env("PBS_HOME"), *server = c->value[CONF_PBS_SERVER];
    bool other_home = home && *home && c->value[CONF_PBS_HOME] && strcmp(home, c->value[CONF_PBS_HOME]) != 0;

    if (!server || !c->value[CONF_PBS_HOME] || other_home)
        return 0;
    return conf_split_host(server, c->own.host, sizeof c->own.host, &c->own.port,
                           (uint16_t)conf_int(c, CONF_PBS_BATCH_SERVICE_PORT), e);
}

static int take_environment(struct conf *c, conf_getenv *env, struct err *e)
{
    const char *v;
    int k;

    for (k = 0; k < CONF_KEY_COUNT; k++)
        if (rows[k].env && (v = env(rows[k].name)) && conf_set(c, (enum conf_key)k, v, e) < 0)
            return -1;
    v = env("PBS_SERVER");
    if (v && *v)
        return 0;
    v = env("PBS_DEFAULT");
    if (!v || !*v)
        return 0;
    if (!c->value[CONF_PBS_SERVER] && conf_set(c, CONF_PBS_SERVER, v, e) < 0)
        return -1;
    return conf_put(&c->default_server, v, strlen(v), e);
}

static int check_required(const struct conf *c, struct err *e)
{
    static const enum conf_key required[] = {CONF_PBS_HOME, CONF_PBS_EXEC, CONF_PBS_SERVER};
    struct strbuf missing;
    size_t i;

    strbuf_init(&missing, 200);
    for (i = 0; i < sizeof required / sizeof required[0]; i++)
        if (!c->value[required[i]])
            strbuf_addf(&missing, " %s", rows[required[i]].name);
    if (missing.len)
        err_set(e, PBSE_BADATVAL, "pbsconf error: pbs conf variables not found:%s", missing.s);
    i = missing.len;
    strbuf_fini(&missing);
    return i ? -1 : 0;
}

static int split_pair(struct conf *c, struct err *e)
{
    static const enum conf_key keys[CONF_PAIR] = {CONF_PBS_PRIMARY, CONF_PBS_SECONDARY};

    if (!c->value[CONF_PBS_PRIMARY] || !c->value[CONF_PBS_SECONDARY])
        return 0;
    for (int i = 0; i < CONF_PAIR; i++)
        if (conf_split_host(c->value[keys[i]], c->pair[i].host, sizeof c->pair[i].host, &c->pair[i].port,
                            c->port, e) < 0)
            return err_prefix(e, "%s", rows[keys[i]].name);
    return 0;
}

static int conf_check(struct conf *c, struct err *e)
{
    int k;

    if (check_required(c, e) < 0)
        return -1;
    for (k = 0; k < CONF_KEY_COUNT; k++)
        if (rows[k].type == CONF_NAME && c->value[k] && strchr(c->value[k], ':'))
            return err_set(e, PBSE_BADATVAL, "pbsconf error: illegal value for: %s", rows[k].name);
    if (conf_split_host(conf_server(c), c->host, sizeof c->host, &c->port,
                        (uint16_t)conf_int(c, CONF_PBS_BATCH_SERVICE_PORT), e) < 0)
        return -1;
    return split_pair(c, e);
}

struct conf *conf_parse(const char *text, conf_getenv *env, struct err *e)
{
    struct conf *c = calloc(1, sizeof *c);

    if (!c) {
        err_set(e, PBSE_SYSTEM, "no memory for pbs.conf");
        return NULL;
    }
    if (conf_take_text(c, text, e) < 0 || note_own(c, env, e) < 0 || take_environment(c, env, e) < 0 ||
        conf_check(c, e) < 0) {
        conf_destroy(c);
        return NULL;
    }
    return c;
}

/* NULL in a process with other rights than those of the user that set the environment. */
static const char *conf_from_environment(const char *name)
{
    return secure_getenv(name);
}

struct conf *conf_load(struct err *e)
{
    const char *path = secure_getenv("PBS_CONF_FILE");
    struct err missing, without;
    char *text = NULL;
    struct conf *c;

    if (!path || !*path)
        path = CONF_PATH;
    if (file_read(AT_FDCWD, path, CONF_FILE_MAX, &text, NULL, &missing) < 0) {
        if (missing.code == ENOENT && (c = conf_parse("", conf_from_environment, &without)))
            return c;
        err_set(e, missing.code, "%s", missing.text);
        return NULL;
    }
    c = conf_parse(text, conf_from_environment, e);
    free(text);
    return c;
}

const struct conf *conf_shared(bool again, struct err *e)
{
    static struct conf *shared; /* the interface of libpbs has no object that could hold it */
    struct conf *fresh;

    if (shared && !again)
        return shared;
    fresh = conf_load(e);
    if (!fresh)
        return NULL;
    conf_destroy(shared);
    shared = fresh;
    return shared;
}

void conf_destroy(struct conf *c)
{
    int k;

    if (!c)
        return;
    for (k = 0; k < CONF_KEY_COUNT; k++)
        free(c->value[k]);
    free(c->default_server);
    free(c);
}

const char *conf_text(const struct conf *c, enum conf_key k)
{
    return c->value[k] ? c->value[k] : rows[k].preset;
}

int64_t conf_int(const struct conf *c, enum conf_key k)
{
    const char *v = conf_text(c, k);

    return v ? strtoll(v, NULL, 10) : 0;
}

bool conf_is_set(const struct conf *c, enum conf_key k)
{
    return c->value[k] != NULL;
}

const char *conf_server(const struct conf *c)
{
    return c->default_server ? c->default_server : c->value[CONF_PBS_SERVER];
}

bool conf_is_elsewhere(const struct conf *c)
{
    return *c->own.host && (c->own.port != c->port || strcasecmp(c->own.host, c->host) != 0);
}

const char *conf_own_host(const struct conf *c)
{
    return *c->own.host ? c->own.host : c->host;
}

uint16_t conf_own_port(const struct conf *c)
{
    return *c->own.host ? c->own.port : c->port;
}

const char *conf_server_host(const struct conf *c)
{
    if (conf_is_elsewhere(c) || (c->default_server && !*c->own.host))
        return c->host;
    if (c->value[CONF_PBS_SERVER_HOST_NAME])
        return c->value[CONF_PBS_SERVER_HOST_NAME];
    return conf_pair(c) ? c->pair[0].host : c->host;
}

const struct conf_host *conf_pair(const struct conf *c)
{
    return *c->pair[0].host ? c->pair : NULL;
}

uint16_t conf_server_port(const struct conf *c)
{
    return c->port;
}

int conf_print_version(void)
{
    struct err e;
    struct conf *c = conf_load(&e);
    int n = printf("pbs_version = %s\n", c ? conf_text(c, CONF_PBS_VERSION) : rows[CONF_PBS_VERSION].preset);

    conf_destroy(c);
    return n < 0 || fflush(stdout) != 0;
}

int64_t conf_core_bytes(const struct conf *c)
{
    const char *text = conf_text(c, CONF_PBS_CORE_LIMIT);
    char *end;
    long long bytes;

    if (!text)
        return -2;
    if (strcasecmp(text, "unlimited") == 0)
        return -1;
    bytes = strtoll(text, &end, 10);
    return *end || end == text || bytes < 0 ? -2 : bytes;
}

int conf_split_host(const char *text, char *host, size_t size, uint16_t *port, uint16_t otherwise,
                    struct err *e)
{
    const char *end = strchrnul(text, ':'), *from = text;
    uint16_t number = otherwise;
    size_t n;

    if (*text == '[') {
        from = text + 1;
        end = strchrnul(from, ']');
        n = (size_t)(end - from);
        end += *end ? 1 : 0;
    } else {
        n = (size_t)(end - from);
    }
    if (*end == ':') {
        if (!conf_is_number(end + 1, 1, 65535))
            return err_set(e, PBSE_BADATVAL, "illegal port in \"%s\"", text);
        number = (uint16_t)strtoul(end + 1, NULL, 10);
    } else if (*end) {
        return err_set(e, PBSE_BADATVAL, "illegal host name \"%s\"", text);
    }
    if (!n || n >= size)
        return err_set(e, PBSE_BADATVAL, "host name of \"%s\" is %s", text, n ? "too long" : "missing");
    memcpy(host, from, n);
    host[n] = '\0';
    *port = number;
    return 0;
}
