/* One walk over the attributes fills a struct of borrowed pointers; the other functions make text from text, each
 * into the caller's memory. Widths of columns are not known here. */
#include "job_show.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "units.h"

void job_show_read(const struct batch_status *job, struct job_show *out)
{
    struct job_show j = {0};
    const struct {
        const char *name, *resource;
        const char **slot;
    } rows[] = {
        {ATTR_name, NULL, &j.name},
        {ATTR_owner, NULL, &j.owner},
        {ATTR_used, "cput", &j.used_cput},
        {ATTR_used, "walltime", &j.used_walltime},
        {ATTR_state, NULL, &j.state},
        {ATTR_queue, NULL, &j.queue},
        {ATTR_session, NULL, &j.session},
        {ATTR_exechost, NULL, &j.exec_host},
        {ATTR_comment, NULL, &j.comment},
        {ATTR_array, NULL, &j.array},
        {ATTR_array_state_count, NULL, &j.array_states},
        {ATTR_stime, NULL, &j.stime},
        {ATTR_l, "cput", &j.want_cput},
        {ATTR_l, "walltime", &j.want_walltime},
        {ATTR_l, "nodect", &j.nodect},
        {ATTR_l, "ncpus", &j.ncpus},
        {ATTR_l, "mem", &j.mem},
        {ATTR_estimated, "start_time", &j.estimated},
    };
    const struct attrl *a;
    size_t i;

    for (a = job->attribs; a; a = a->next)
        for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
            if (!strcmp(a->name, rows[i].name) && (a->resource != NULL) == (rows[i].resource != NULL) &&
                (!a->resource || !strcmp(a->resource, rows[i].resource))) {
                *rows[i].slot = a->value;
                break;
            }
    *out = j;
}

static const char *copy(const char *text, size_t n, char *out, size_t size)
{
    n = n < size ? n : size - 1;
    memcpy(out, text, n);
    out[n] = '\0';
    return out;
}

const char *job_show_id(const char *name, char *out, size_t size)
{
    const char *dot = strchr(name, '.'), *second = dot ? strchr(dot + 1, '.') : NULL;

    return copy(name, second ? (size_t)(second - name) : strlen(name), out, size);
}

const char *job_show_user(const char *owner, char *out, size_t size)
{
    return copy(owner ? owner : "", owner ? strcspn(owner, "@") : 0, out, size);
}

const char *job_show_hhmm(const char *duration, char out[static JOB_SHOW_TEXT])
{
    const char *last = duration ? strrchr(duration, ':') : NULL;

    return last ? copy(duration, (size_t)(last - duration), out, JOB_SHOW_TEXT) : duration;
}

static uint64_t round_up(uint64_t n, uint64_t by)
{
    return n / by + (n % by != 0);
}

const char *job_show_memory(const char *size, enum job_show_unit unit, char out[static JOB_SHOW_TEXT])
{
    static const char letters[] = "bkmgtp";
    struct units_size s;
    uint64_t n;
    unsigned i;

    if (!size || units_parse_size(size, &s, NULL) < 0)
        return NULL;
    if (unit == JOB_SHOW_GB || unit == JOB_SHOW_MW) {
        n = units_size_kb(s);
        n = unit == JOB_SHOW_GB ? round_up(n, 1 << 20) : round_up(n, UNITS_WORD_BYTES << 10);
        snprintf(out, JOB_SHOW_TEXT, "%llu%s", (unsigned long long)n, unit == JOB_SHOW_GB ? "gb" : "mw");
        return out;
    }
    n = s.n;
    i = s.shift / 10;
    if (!i) { /* the smallest unit that is shown is kb */
        n = round_up(n, 1024);
        i = 1;
    }
    for (; n > 9999 && i < sizeof letters - 2; i++)
        n = round_up(n, 1024);
    snprintf(out, JOB_SHOW_TEXT, "%llu%c%c", (unsigned long long)n, letters[i], s.words ? 'w' : 'b');
    return out;
}

long job_show_count(const char *counts, const char *state)
{
    size_t n = strlen(state);

    while (counts && *counts) {
        if (!strncmp(counts, state, n) && counts[n] == ':')
            return strtol(counts + n + 1, NULL, 10);
        counts += strcspn(counts, " ");
        counts += strspn(counts, " ");
    }
    return 0;
}

static int percent_of(const char *used, const char *want)
{
    int64_t u, w;

    if (!used || !want || units_parse_duration_s(used, &u, NULL) < 0 ||
        units_parse_duration_s(want, &w, NULL) < 0 || !w)
        return -1;
    return u >= w ? 100 : (int)(u * 100 / w);
}

static int percent_of_array(const char *counts)
{
    long over = job_show_count(counts, "Expired");
    long all = over + job_show_count(counts, "Queued") + job_show_count(counts, "Running") +
               job_show_count(counts, "Exiting");

    return all ? (int)(over * 100 / all) : -1;
}

const char *job_show_percent(const struct job_show *j, char out[static JOB_SHOW_TEXT])
{
    int cput = percent_of(j->used_cput, j->want_cput), wall = percent_of(j->used_walltime, j->want_walltime);
    bool has_ended = j->state && strchr("XF", *j->state);
    int p = has_ended ? 100 : j->array_states ? percent_of_array(j->array_states) : cput > wall ? cput : wall;

    if (p < 0)
        return "-- ";
    snprintf(out, JOB_SHOW_TEXT, p >= 100 ? "%d" : "%3d ", p);
    return out;
}

/* --- why it waits ------------------------------------------------------------------------------------------- */

static const char *const why_names[] = {ATTR_comment, ATTR_state, ATTR_h,
                                        ATTR_depend,  ATTR_a,     "preempted_by"};

void job_show_why_attribs(struct attrs *out)
{
    for (size_t i = 0; i < sizeof why_names / sizeof why_names[0]; i++)
        attrs_add(out, why_names[i], NULL, "", SET);
}

/* Format "afterok:9.head@head:10.head@head" without the servers to which the jobs belong. */
static const char *without_servers(const char *item, size_t n, char out[static JOB_SHOW_WHY])
{
    size_t len = (size_t)snprintf(out, JOB_SHOW_WHY, "Waits for ");

    for (size_t i = 0; i < n && len < JOB_SHOW_WHY - 1; i++) {
        if (item[i] == '@')
            i += strcspn(item + i, ":,");
        if (i < n)
            out[len++] = item[i];
    }
    out[len] = '\0';
    return out;
}

/* Find the first dependency in "afterok:9.head,before:..." that this job waits for; kinds for which other jobs wait
 * are left out. */
static const char *first_wait(const char *depend, char out[static JOB_SHOW_WHY])
{
    for (const char *at = depend; at && *at; at += strcspn(at, ","), at += *at == ',')
        if (strncmp(at, "after", 5) == 0 || strncmp(at, "on:", 3) == 0 || strncmp(at, "runone", 6) == 0)
            return without_servers(at, strcspn(at, ","), out);
    return NULL;
}

static const char *why_held(const char *holds, const char *depend, char out[static JOB_SHOW_WHY])
{
    const char *waits = first_wait(depend, out);

    if (holds && strchr(holds, 'u'))
        return "Held by its owner";
    if (holds && strchr(holds, 'o'))
        return "Held by an operator";
    if (waits)
        return waits;
    if (holds && strchr(holds, 'p'))
        return "Held because of a bad password";
    return holds && strchr(holds, 's') ? "Held by a manager or the server" : NULL;
}

static const char *why_until(const char *time, char out[static JOB_SHOW_WHY])
{
    time_t at = time ? (time_t)strtoll(time, NULL, 10) : 0;
    struct tm tm;

    if (at <= 0 || !localtime_r(&at, &tm))
        return NULL;
    strftime(out, JOB_SHOW_WHY, "Waits until %a %b %d %H:%M:%S %Y", &tm);
    return out;
}

/* Return true for a comment of a scheduler on a job that it cannot start; a suspended job does not wait for that
 * reason. */
static bool is_of_scheduler(const char *comment)
{
    return strncmp(comment, "Not Running", 11) == 0 || strncmp(comment, "Can Never Run", 13) == 0;
}

const char *job_show_why(const struct batch_status *job, char out[static JOB_SHOW_WHY])
{
    const char *found[sizeof why_names / sizeof why_names[0]];

    for (size_t i = 0; i < sizeof why_names / sizeof why_names[0]; i++)
        found[i] = attrs_value(job->attribs, why_names[i], NULL);
    const char *comment = found[0], *state = found[1] ? found[1] : "", *urgent = found[5];

    if (*state == 'S' && urgent && (!comment || is_of_scheduler(comment))) {
        snprintf(out, JOB_SHOW_WHY, "Suspended for %s", urgent);
        return out;
    }
    if (comment)
        return comment;
    if (*state == 'H')
        return why_held(found[2], found[3], out);
    return *state == 'W' ? why_until(found[4], out) : NULL;
}
