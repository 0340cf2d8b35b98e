#include "web_body.h"

#include <string.h>

#include "web_call.h"
#include "web_route.h"

/* jansson refuses a null byte and more than 2048 levels of itself; 30 are enough for an object of objects. */
enum { MEMBER_SHOWN = 64 };

static const struct web_param *web_body_row(const struct web_param *rows, const char *name)
{
    while (rows->name && strcmp(rows->name, name) != 0)
        rows++;
    return rows->name ? rows : NULL;
}

static bool web_body_is(const json_t *v, enum web_type type)
{
    switch (type) {
    case WEB_TEXT:
        return json_is_string(v);
    case WEB_NUMBER:
        return json_is_integer(v);
    case WEB_FLAG:
        return json_is_boolean(v);
    case WEB_OBJECT:
        return json_is_object(v);
    }
    return false;
}

static bool web_body_check(struct web_call *w, json_t *body)
{
    static const char *const types[] = {"a text", "a number", "true or false", "an object"};
    const struct web_param *row;
    const char *name;
    json_t *v;

    json_object_foreach(body, name, v)
    {
        row = web_body_row(w->route->body, name);
        if (!row)
            web_call_problem(w, 400, 0, "%.*s is not a member of this request", MEMBER_SHOWN, name);
        else if (!web_body_is(v, row->type))
            web_call_problem(w, 400, 0, "%s is %s", name, types[row->type]);
        else
            continue;
        return false;
    }
    for (row = w->route->body; row->name; row++)
        if (row->needed && !json_object_get(body, row->name)) {
            web_call_problem(w, 400, 0, "%s is missing: %s", row->name, row->meaning);
            return false;
        }
    return true;
}

json_t *web_body_read(struct web_call *w)
{
    json_error_t why;
    json_t *body = w->n_body ? json_loadb(w->body, w->n_body, JSON_REJECT_DUPLICATES, &why) : json_object();

    if (!body && w->n_body)
        web_call_problem(w, 400, 0, "the body is not JSON: line %d, column %d: %.200s", why.line, why.column,
                         why.text);
    else if (!body)
        web_call_problem(w, 503, 0, "no memory");
    else if (!json_is_object(body))
        web_call_problem(w, 400, 0, "the body is to be a JSON object");
    else if (web_body_check(w, body))
        return body;
    json_decref(body);
    return NULL;
}
