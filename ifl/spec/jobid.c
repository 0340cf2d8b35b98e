/* Names of jobs and destinations. See jobid.h.
 *
 * A parser goes over the text once, from the number to the end; each step says where the next begins, or NULL. All
 * parts are bounded while they are copied. A range is left as text until it is needed (jobid_indices), since it may
 * name more subjobs than there are. */
#include "jobid.h"

#include <ctype.h>

#include "pbs_error.h"
#include "strbuf.h"

static int jobid_bad(const char *text, struct err *e)
{
    return err_set(e, PBSE_IVALREQ, "illegally formed job identifier: %s", text);
}

/* Return true if this is a name of a host as identifiers have it: letters, digits, - _ . and, where a port may
 * follow, : [ ]
 */
static bool is_host(const char *s, size_t n, bool port)
{
    size_t i;

    for (i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && !strchr("-_.", s[i]) && !(port && strchr(":[]", s[i])))
            return false;
    return n > 0;
}

static bool jobid_copy(char *to, size_t size, const char *from, size_t n)
{
    if (n >= size)
        return false;
    memcpy(to, from, n);
    to[n] = '\0';
    return true;
}

/* A number of at most `digits` digits; NULL: there is none, or it is longer. */
static const char *jobid_parse_number(const char *s, int digits, int64_t *out)
{
    const char *from = s;
    int64_t v = 0;

    while (isdigit((unsigned char)*s) && s - from <= digits)
        v = 10 * v + (*s++ - '0');
    *out = v;
    return s == from || s - from > digits ? NULL : s;
}

/* Parse the text in brackets; return what follows them, NULL: not well formed. */
static const char *parse_index(const char *s, struct jobid *id)
{
    const char *end = strchr(s, ']');
    int64_t index;

    if (!end)
        return NULL;
    if (end == s) {
        id->form = JOBID_ARRAY;
        return end + 1;
    }
    if (strspn(s, "0123456789") == (size_t)(end - s)) {
        if (!jobid_parse_number(s, 10, &index) || index > JOBID_MAX_INDEX)
            return NULL;
        id->form = JOBID_SUBJOB;
        id->key.index = (int32_t)index;
        return end + 1;
    }
    if (strspn(s, "0123456789-,:") != (size_t)(end - s))
        return NULL;
    id->form = JOBID_RANGE;
    id->range = s;
    id->n_range = (size_t)(end - s);
    return end + 1;
}

/* ".server" and "@server", both optional; true when the text ends behind them. */
static bool parse_servers(const char *s, struct jobid *id)
{
    const char *at = strchrnul(s, '@');

    if (*s == '.') {
        size_t n = (size_t)(at - s - 1);

        if (!is_host(s + 1, n, false) || !jobid_copy(id->server, sizeof id->server, s + 1, n))
            return false;
        s = at;
    }
    if (*s == '@')
        return is_host(s + 1, strlen(s + 1), true) &&
               jobid_copy(id->ask, sizeof id->ask, s + 1, strlen(s + 1));
    return !*s;
}

int jobid_parse(const char *text, struct jobid *out, struct err *e)
{
    struct jobid id = {.form = JOBID_JOB, .key.index = JOBID_NO_INDEX};
    const char *s = jobid_parse_number(text, PBS_MAXSEQNUM, &id.key.seq);

    if (s && *s == '[')
        s = parse_index(s + 1, &id);
    if (!s || !parse_servers(s, &id))
        return jobid_bad(text, e);
    *out = id;
    return 0;
}

bool jobid_is_jobid(const char *text)
{
    return isdigit((unsigned char)*text);
}

static char *range_text(const struct jobid *id, struct err *e)
{
    char *range = strndup(id->range, id->n_range);

    if (!range)
        err_set(e, PBSE_SYSTEM, "no memory for a range of subjobs");
    return range;
}

static int bad_range(const char *range, const struct err *why, struct err *e)
{
    return err_set(e, PBSE_IVALREQ, "illegal range of subjobs [%.200s]: %s", range, why->text);
}

int jobid_check_indices(const struct jobid *id, struct err *e)
{
    struct err why;
    char *range;
    int rc;

    if (id->form != JOBID_RANGE)
        return 0;
    if (!(range = range_text(id, e)))
        return -1;
    rc = idset_check(range, JOBID_MAX_INDEX, &why);
    if (rc < 0)
        bad_range(range, &why, e);
    free(range);
    return rc;
}

static int only_index(int32_t index, const struct idset_range *array, struct idset **out, struct err *e)
{
    struct idset_range r = {(uint32_t)index, (uint32_t)index, 1};
    struct idset *set = idset_create();

    if (!set || (idset_range_meet(&r, array) && idset_add(set, r.first) < 0)) {
        idset_destroy(set);
        return err_set(e, PBSE_SYSTEM, "no memory for a set of subjobs");
    }
    *out = set;
    return 0;
}

int jobid_indices(const struct jobid *id, struct idset_range array, struct idset **out, struct err *e)
{
    struct err why;
    char *range;
    int rc;

    if (id->form == JOBID_SUBJOB)
        return only_index(id->key.index, &array, out, e);
    if (id->form != JOBID_RANGE)
        return err_set(e, PBSE_IVALREQ, "job %lld is named without subjobs", (long long)id->key.seq);
    if (!(range = range_text(id, e)))
        return -1;
    rc = idset_parse_part(range, JOBID_MAX_INDEX, array, out, &why);
    if (rc < 0)
        bad_range(range, &why, e);
    free(range);
    return rc;
}

const char *jobid_format(char out[static JOBID_TEXT_MAX], struct job_key key, bool array, const char *server)
{
    const char *dot = *server ? "." : "";
    long long seq = (long long)key.seq;

    if (key.index != JOBID_NO_INDEX)
        snprintf(out, JOBID_TEXT_MAX, "%lld[%d]%s%s", seq, (int)key.index, dot, server);
    else
        snprintf(out, JOBID_TEXT_MAX, "%lld%s%s%s", seq, array ? "[]" : "", dot, server);
    return out;
}

int jobid_complete(const struct jobid *id, const char *server, struct strbuf *out)
{
    char text[JOBID_TEXT_MAX];

    server = *id->server ? id->server : server;
    if (id->form != JOBID_RANGE)
        return strbuf_add(out, jobid_format(text, id->key, id->form == JOBID_ARRAY, server));
    return strbuf_addf(out, "%lld[%.*s]%s%s", (long long)id->key.seq, (int)id->n_range, id->range,
                       *server ? "." : "", server);
}

static bool is_queue_name(const char *s, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && !strchr("-_.", s[i]))
            return false;
    return true;
}

int jobid_parse_destination(const char *text, struct destination *out, struct err *e)
{
    const char *at = strchrnul(text, '@');
    size_t n = (size_t)(at - text);
    struct destination d = {0};

    if (!*text || !is_queue_name(text, n) || !jobid_copy(d.queue, sizeof d.queue, text, n))
        return err_set(e, PBSE_IVALREQ, "illegally formed destination: %s", text);
    if (*at && (!is_host(at + 1, strlen(at + 1), true) ||
                !jobid_copy(d.server, sizeof d.server, at + 1, strlen(at + 1))))
        return err_set(e, PBSE_IVALREQ, "illegally formed destination: %s", text);
    *out = d;
    return 0;
}
