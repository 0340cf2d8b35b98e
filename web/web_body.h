#ifndef WEB_BODY_H
#define WEB_BODY_H
/* The JSON object that a request has as its body, checked against the members of its route; bytes that are not UTF-8 in its
 * texts as json_text.h has them. */
#include <jansson.h>

struct web_call;

/* The object; the caller gives it back by json_decref. NULL: the call has the problem: not JSON, too deep, not UTF-8, not an object, a member that the
 * route does not know, one of another type, or one that is missing. An empty body is an empty object. */
json_t *web_body_read(struct web_call *w);

#endif
