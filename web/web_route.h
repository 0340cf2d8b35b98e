#ifndef WEB_ROUTE_H
#define WEB_ROUTE_H
/* The one table of what can be asked for. It dispatches requests, checks parameters, and is what the OpenAPI document is
 * made from. */
#include <stdbool.h>
#include <stddef.h>

struct web_call;

enum web_right {
    WEB_OPEN, /* the page itself, which has no data */
    WEB_READ, /* every token */
    WEB_WRITE /* a token that is not read-only */
};

enum web_type { WEB_TEXT, WEB_NUMBER, WEB_FLAG, WEB_OBJECT };

struct web_param {
    const char *name;
    enum web_type type;
    long least, most;    /* of a number */
    const char *meaning; /* a sentence */
    bool needed;
};

struct web_route {
    const char *method; /* GET, POST, PATCH, DELETE */
    const char *path;   /* "/api/v1/jobs/{id}/hold" */
    enum web_right right;
    void (*handler)(struct web_call *w);
    const char *name;              /* operationId */
    const char *meaning;           /* a sentence */
    const struct web_param *query; /* a row without name is the end; NULL: none */
    const struct web_param *body;  /* members of the JSON object; NULL: no body */
    const char *answer;            /* name of the schema of the answer, "" none, or its media type */
};

/* All rows; *n of them. Those of one path follow one another. */
const struct web_route *web_routes(size_t *n);

/* The row of method and path; id (size bytes) becomes what {id} takes of the path. NULL: *status is 404, or 405 and *allow (size_allow
 * bytes) names the methods of the path. HEAD is answered by GET. */
const struct web_route *web_route_find(const char *method, const char *path, char *id, size_t size,
                                       unsigned *status, char *allow, size_t size_allow);

#endif
