/* Answers are written to a stream in memory with json_out.c, the writer of every command's JSON. See web_call.h. */
#include "web_call.h"

#include <microhttpd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *web_call_query(const struct web_call *w, const char *name)
{
    return MHD_lookup_connection_value(w->http, MHD_GET_ARGUMENT_KIND, name);
}

int64_t web_call_number(const struct web_call *w, const char *name, int64_t otherwise)
{
    const char *text = web_call_query(w, name);

    return text ? strtoll(text, NULL, 10) : otherwise;
}

bool web_call_flag(const struct web_call *w, const char *name)
{
    const char *text = web_call_query(w, name);

    return text && strcmp(text, "true") == 0;
}

/* Close the stream; the bytes are the answer. */
static int web_call_close(struct web_call *w)
{
    int rc = w->f ? fclose(w->f) : 0;

    w->f = NULL;
    return rc;
}

static void web_call_drop(struct web_call *w)
{
    web_call_close(w);
    if (!w->answer_is_constant)
        free(w->answer);
    w->answer = NULL;
    w->n_answer = 0;
    w->answer_is_constant = false;
}

bool web_call_open(struct web_call *w, const char *type)
{
    web_call_drop(w);
    w->type = type;
    w->f = open_memstream(&w->answer, &w->n_answer);
    if (!w->f)
        web_call_problem(w, 503, 0, "no memory");
    return w->f != NULL;
}

bool web_call_json(struct web_call *w)
{
    if (!web_call_open(w, "application/json"))
        return false;
    json_out_begin(&w->json, w->f);
    w->json.compact = true;
    return true;
}

void web_call_end(struct web_call *w, unsigned status)
{
    w->status = status;
    if (web_call_close(w) == EOF)
        web_call_problem(w, 503, 0, "no memory for the answer");
}

void web_call_json_end(struct web_call *w, unsigned status)
{
    json_out_end(&w->json);
    web_call_end(w, status);
}

size_t web_call_written(struct web_call *w)
{
    long at = w->f ? ftell(w->f) : 0;

    return at > 0 ? (size_t)at : 0;
}

void web_call_constant(struct web_call *w, const char *type, const void *bytes, size_t n, const char *etag)
{
    web_call_drop(w);
    w->status = 200;
    w->type = type;
    w->etag = etag;
    w->answer = (char *)bytes;
    w->n_answer = n;
    w->answer_is_constant = true;
}

void web_call_nothing(struct web_call *w)
{
    web_call_drop(w);
    w->status = 204;
    w->type = "application/json";
    w->answer = (char *)"";
    w->answer_is_constant = true;
}

/* What the status means, for `title`; the sentence is in `detail`. */
static const char *web_call_title(unsigned status)
{
    const char *phrase = MHD_get_reason_phrase_for(status);

    return phrase ? phrase : "Error";
}

void web_call_problem(struct web_call *w, unsigned status, int code, const char *fmt, ...)
{
    static const char no_memory[] =
        "{\"type\":\"about:blank\",\"title\":\"Service Unavailable\",\"status\":503}\n";
    char detail[1024], type[64];
    struct json_out *j = &w->json;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(detail, sizeof detail, fmt, ap);
    va_end(ap);
    web_call_drop(w);
    w->etag = NULL;
    w->status = status;
    w->type = "application/problem+json";
    w->f = open_memstream(&w->answer, &w->n_answer);
    if (w->f) {
        snprintf(type, sizeof type, code ? "urn:pbs:error:%d" : "about:blank", code);
        json_out_begin(j, w->f);
        j->compact = true;
        json_out_string(j, "type", type);
        json_out_string(j, "title", web_call_title(status));
        json_out_number(j, "status", status);
        json_out_string(j, "detail", detail);
        if (code)
            json_out_number(j, "pbs_code", code);
        json_out_end(j);
    }
    if (!w->f || web_call_close(w) == EOF) {
        web_call_drop(w);
        w->status = 503;
        w->answer = (char *)no_memory;
        w->n_answer = sizeof no_memory - 1;
        w->answer_is_constant = true;
    }
}

void web_call_fini(struct web_call *w)
{
    web_call_drop(w);
}
