/* A lost connection is not tried again: the server may have done what was asked. */
#include "web_act.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <jansson.h>

#include "attrs.h"
#include "job_script.h"
#include "pbs_error.h"
#include "pbs_ext.h"
#include "web_body.h"
#include "web_call.h"
#include "web_pbs.h"
#include "web_route.h"

enum { NUMBER_TEXT = 32, ATTRIBUTES_MAX = 256, FD_PATH = 48, TAIL = 30000 };

/* --- attributes ------------------------------------------------------------------------------------------------------ */

/* A value of JSON as PBS has it: true is "True", a number its digits. NULL: it is an array, an object or null. */
static const char *web_act_value(const json_t *v, char text[NUMBER_TEXT])
{
    if (json_is_string(v))
        return json_string_value(v);
    if (json_is_boolean(v))
        return json_is_true(v) ? "True" : "False";
    if (json_is_integer(v))
        snprintf(text, NUMBER_TEXT, "%lld", (long long)json_integer_value(v));
    else if (json_is_real(v))
        snprintf(text, NUMBER_TEXT, "%g", json_real_value(v));
    else
        return NULL;
    return text;
}

static bool web_act_add(struct web_call *w, struct attrs *out, const char *name, const char *resource,
                        const json_t *v)
{
    char text[NUMBER_TEXT];
    const char *value = web_act_value(v, text);

    if (!value) {
        web_call_problem(w, 400, 0, "%s%s%s is a text, a number, true or false", name, resource ? "." : "",
                         resource ? resource : "");
        return false;
    }
    attrs_add(out, name, resource, value, SET);
    return true;
}

/* {"A": "1", "B": "x,y"} as A=1,B=x\,y. */
static bool web_act_variables(struct web_call *w, struct attrs *out, const char *name, json_t *v)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    const char *key;
    json_t *one;
    bool ok = f != NULL, first = true;

    json_object_foreach(v, key, one)
    {
        char number[NUMBER_TEXT];
        const char *value = web_act_value(one, number);

        ok = ok && value && *key;
        if (!ok)
            break;
        fprintf(f, "%s%s=", first ? "" : ",", key);
        first = false;
        for (; *value; value++)
            fprintf(f, "%s%c", strchr(",\\", *value) ? "\\" : "", *value);
    }
    if (f)
        ok = fclose(f) == 0 && ok;
    if (ok)
        attrs_add(out, name, NULL, text, SET);
    else
        web_call_problem(w, 400, 0, "%s: each variable is a text, a number, true or false", name);
    free(text);
    return ok;
}

/* The member `attributes`, as a status shows them: {"Job_Name": "x", "Resource_List": {"select": "1:ncpus=2"}}. */
static bool web_act_attributes(struct web_call *w, json_t *body, struct attrs *out)
{
    json_t *all = json_object_get(body, "attributes"), *v, *part;
    const char *name, *resource;

    if (json_object_size(all) > ATTRIBUTES_MAX) {
        web_call_problem(w, 400, 0, "there may be %d attributes", ATTRIBUTES_MAX);
        return false;
    }
    json_object_foreach(all, name, v)
    {
        if (json_is_object(v) && strcmp(name, ATTR_v) == 0) {
            if (!web_act_variables(w, out, name, v))
                return false;
        } else if (json_is_object(v)) {
            json_object_foreach(v, resource,
                                part) if (!web_act_add(w, out, name, resource, part)) return false;
        } else if (!web_act_add(w, out, name, NULL, v)) {
            return false;
        }
    }
    if (out->failed)
        web_call_problem(w, 503, 0, "no memory");
    return !out->failed;
}

/* --- submit ------------------------------------------------------------------------------------------------------------ */

/* The script as a file in memory, since libpbs reads a file: its path in `path`. -1: no memory. */
static int web_act_script(const char *text, char path[FD_PATH])
{
    int fd = memfd_create("script", MFD_CLOEXEC);
    size_t n = strlen(text), done = 0;

    while (fd >= 0 && done < n) {
        ssize_t wrote = write(fd, text + done, n - done);

        if (wrote <= 0) {
            close(fd);
            fd = -1;
        }
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    snprintf(path, FD_PATH, "/proc/self/fd/%d", fd);
    return fd;
}

static void web_act_submitted(struct web_call *w, char *id)
{
    if (web_call_json(w)) {
        json_out_string(&w->json, "id", id);
        web_call_json_end(w, 201);
    }
    free(id);
}

/* A directive is read by qsub, not by the server: to ignore one would run another job than was meant. */
static int web_act_directive(void *arg, const char *text)
{
    web_call_problem(arg, 400, 0, "the script has the line \"#PBS %.100s\": give it as an attribute",
                     text + strspn(text, " \t"));
    return 1;
}

static bool web_act_script_is_plain(struct web_call *w, const char *script)
{
    FILE *f = fmemopen((void *)script, strlen(script), "r");
    struct err e;
    int rc = f ? job_script_scan(f, "#PBS", web_act_directive, w, &e) : -1;

    if (!f)
        web_call_problem(w, 400, 0, "the script is empty");
    else if (rc < 0)
        web_call_problem(w, 400, 0, "the script: %s", e.text);
    if (f)
        fclose(f);
    return rc == 0;
}

/* Where no directory is given the job begins in the home of the user, as one that qsub submits there. */
static void web_act_home(struct attrs *attribs)
{
    const char *given = attrs_find(attribs, ATTR_v, NULL);
    struct passwd entry, *found = NULL;
    char room[4096], *text = NULL;

    if ((given && strstr(given, "PBS_O_WORKDIR=")) ||
        getpwuid_r(geteuid(), &entry, room, sizeof room, &found) != 0 || !found)
        return;
    if (asprintf(&text, "PBS_O_HOME=%s,PBS_O_LOGNAME=%s,PBS_O_WORKDIR=%s%s%s", found->pw_dir, found->pw_name,
                 found->pw_dir, given ? "," : "", given ? given : "") < 0) {
        attribs->failed = true;
        return;
    }
    attrs_set(attribs, ATTR_v, NULL, text);
    free(text);
}

void web_act_submit(struct web_call *w)
{
    struct attrs attribs = {0};
    json_t *body = web_body_read(w);
    const char *script = json_string_value(json_object_get(body, "script")),
               *queue = json_string_value(json_object_get(body, "queue"));
    char path[FD_PATH], *id;
    int c, fd = -1;

    if (!body || !web_act_script_is_plain(w, script) || !web_act_attributes(w, body, &attribs))
        goto out;
    web_act_home(&attribs);
    if ((c = web_pbs_connect(w)) < 0)
        goto out;
    fd = web_act_script(script, path);
    if (fd < 0) {
        web_call_problem(w, 503, 0, "no memory for the script");
        goto out;
    }
    id = pbs_submit(c, attribs.first, path, queue, NULL);
    if (id)
        web_act_submitted(w, id);
    else
        web_pbs_failed(w, c);
out:
    if (fd >= 0)
        close(fd);
    attrs_fini(&attribs);
    json_decref(body);
}

/* --- what is one call with a job and a word ----------------------------------------------------------------------------- */

static void web_act_done(struct web_call *w, int c, int code)
{
    if (code)
        web_pbs_failed(w, c);
    else
        web_call_nothing(w);
}

/* The connection, if the path names a job. -1: the call has the problem. */
static int web_act_begin(struct web_call *w)
{
    if (pbs_isjobid(w->id))
        return web_pbs_connect(w);
    web_call_problem(w, 404, PBSE_UNKJOBID, "%s is not the identifier of a job", w->id);
    return -1;
}

void web_act_delete(struct web_call *w)
{
    int c = web_act_begin(w);

    if (c >= 0)
        web_act_done(w, c, pbs_deljob(c, w->id, web_call_flag(w, "force") ? FORCE : NULL));
}

/* The member of the body, or what is meant without it. *body is to be freed. NULL: the call has the problem. */
static const char *web_act_word(struct web_call *w, const char *member, const char *otherwise, json_t **body)
{
    const char *text;

    *body = web_body_read(w);
    if (!*body)
        return NULL;
    text = json_string_value(json_object_get(*body, member));
    return text ? text : otherwise;
}

static void web_act_with_word(struct web_call *w, const char *member, const char *otherwise,
                              int (*call)(int c, const char *id, const char *word, const char *extend))
{
    json_t *body;
    const char *word = web_act_word(w, member, otherwise, &body);
    int c = word ? web_act_begin(w) : -1;

    if (c >= 0)
        web_act_done(w, c, call(c, w->id, word, NULL));
    json_decref(body);
}

void web_act_hold(struct web_call *w)
{
    web_act_with_word(w, "type", USER_HOLD, pbs_holdjob);
}

void web_act_release(struct web_call *w)
{
    web_act_with_word(w, "type", USER_HOLD, pbs_rlsjob);
}

void web_act_signal(struct web_call *w)
{
    web_act_with_word(w, "signal", "SIGTERM", pbs_sigjob);
}

void web_act_alter(struct web_call *w)
{
    struct attrs attribs = {0};
    json_t *body = web_body_read(w);
    int c;

    if (body && web_act_attributes(w, body, &attribs) && (c = web_act_begin(w)) >= 0)
        web_act_done(w, c, pbs_alterjob(c, w->id, attrs_attrl(&attribs), NULL));
    attrs_fini(&attribs);
    json_decref(body);
}

/* --- output ------------------------------------------------------------------------------------------------------------------ */

void web_act_output(struct web_call *w)
{
    const char *which = web_call_query(w, "file");
    struct pbs_peek *piece = malloc(sizeof *piece);
    int c = piece ? web_act_begin(w) : -1;

    if (!piece)
        web_call_problem(w, 503, 0, "no memory");
    if (c >= 0 && pbs_peekjob(c, w->id, which && strcmp(which, "err") == 0 ? MSG_ERR : MSG_OUT, -TAIL, NULL,
                              piece) != 0)
        web_pbs_failed(w, c);
    else if (c >= 0 && web_call_open(w, "text/plain; charset=utf-8")) {
        fwrite(piece->data, 1, piece->n, w->f);
        web_call_end(w, 200);
    }
    free(piece);
}
