#ifndef WEB_CALL_H
#define WEB_CALL_H
/* One request of an HTTP client and the answer to it, as a handler sees them.
 *
 * web_http.c makes the call when a request is in, checks who asks (web_door.h) and what the route takes, calls the handler of
 * the route, and sends the answer. A handler runs on one of the threads of the pool and may wait for the server.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "json_out.h"

struct MHD_Connection;
struct MHD_Response;
struct web_route;
struct web_watch;

enum { WEB_ID_MAX = 512, WEB_BODY_MAX = 4 << 20, WEB_ANSWER_MAX = 256 << 20 };

struct web_call {
    struct MHD_Connection *http;
    const struct web_route *route;
    struct web_watch *watch; /* what has changed at the server, for metrics and events */
    char id[WEB_ID_MAX];     /* what the path has for {id}; "" */
    const char *token;       /* name of the token that was shown */
    const char *body;        /* ended by a null byte */
    size_t n_body;

    unsigned status;  /* of the answer */
    const char *type; /* media type of the answer; constant */
    const char *etag; /* NULL, or constant */
    char *answer;     /* heap, or constant where answer_is_constant */
    size_t n_answer;
    bool answer_is_constant;
    struct MHD_Response *stream; /* instead of the answer, by web_events.c; NULL: none */
    FILE *f;                     /* while JSON or text is written */
    struct json_out json;
};

/* A parameter of the query, or NULL. Borrowed for the call. */
const char *web_call_query(const struct web_call *w, const char *name);
/* The same as a number; `otherwise` where it is not there. web_http.c has checked that it is one within its row. */
int64_t web_call_number(const struct web_call *w, const char *name, int64_t otherwise);
bool web_call_flag(const struct web_call *w, const char *name);

/* Begin an answer as text; `type` is constant. False: no memory, and the call has that answer. */
bool web_call_open(struct web_call *w, const char *type);
/* Begin a JSON object in w->json, and end it. */
bool web_call_json(struct web_call *w);
void web_call_json_end(struct web_call *w, unsigned status);
void web_call_end(struct web_call *w, unsigned status);

/* Bytes of the answer as it is written so far. */
size_t web_call_written(struct web_call *w);

/* Answer with constant bytes. */
void web_call_constant(struct web_call *w, const char *type, const void *bytes, size_t n, const char *etag);

/* It is done, and there is nothing to tell: 204. */
void web_call_nothing(struct web_call *w);

/* Answer with a problem (RFC 9457); what was written so far is dropped. `code` is PBS's number or 0. */
void web_call_problem(struct web_call *w, unsigned status, int code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

void web_call_fini(struct web_call *w);

#endif
