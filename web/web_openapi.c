/* Rows of one path follow one another in the table. What an answer is made of is said once for each name in a row's `answer`; attributes are
 * PBS's, so an object of them has any members. */
#include "web_openapi.h"

#include <stdio.h>
#include <string.h>

#include "web_call.h"
#include "web_route.h"

static void web_openapi_type(struct json_out *j, const struct web_param *p)
{
    static const char *const types[] = {"string", "integer", "boolean", "object"};

    json_out_string(j, "type", types[p->type]);
    if (p->type == WEB_NUMBER) {
        json_out_number(j, "minimum", p->least);
        json_out_number(j, "maximum", p->most);
    }
}

static void web_openapi_parameter(struct json_out *j, const char *name, const char *in, const char *meaning,
                                  bool needed, const struct web_param *p)
{
    json_out_open(j, NULL, '{');
    json_out_string(j, "name", name);
    json_out_string(j, "in", in);
    json_out_string(j, "description", meaning);
    json_out_any(j, "required", needed ? "true" : "false");
    json_out_open(j, "schema", '{');
    if (p)
        web_openapi_type(j, p);
    else
        json_out_string(j, "type", "string");
    json_out_close(j, '}');
    json_out_close(j, '}');
}

static void web_openapi_parameters(struct json_out *j, const struct web_route *r)
{
    json_out_open(j, "parameters", '[');
    if (strstr(r->path, "{id}"))
        web_openapi_parameter(j, "id", "path", "name or identifier", true, NULL);
    for (const struct web_param *p = r->query; p && p->name; p++)
        web_openapi_parameter(j, p->name, "query", p->meaning, p->needed, p);
    json_out_close(j, ']');
}

static void web_openapi_body(struct json_out *j, const struct web_route *r)
{
    json_out_open(j, "requestBody", '{');
    json_out_open(j, "content", '{');
    json_out_open(j, "application/json", '{');
    json_out_open(j, "schema", '{');
    json_out_string(j, "type", "object");
    json_out_any(j, "additionalProperties", "false");
    json_out_open(j, "properties", '{');
    for (const struct web_param *p = r->body; p->name; p++) {
        json_out_open(j, p->name, '{');
        web_openapi_type(j, p);
        json_out_string(j, "description", p->meaning);
        json_out_close(j, '}');
    }
    json_out_close(j, '}');
    for (int n = 0; n < 4; n++)
        json_out_close(j, '}');
}

static void web_openapi_answer(struct json_out *j, const char *status, const char *meaning, const char *type,
                               const char *schema)
{
    char ref[80];

    json_out_open(j, status, '{');
    json_out_string(j, "description", meaning);
    if (type) {
        json_out_open(j, "content", '{');
        json_out_open(j, type, '{');
        json_out_open(j, "schema", '{');
        snprintf(ref, sizeof ref, "#/components/schemas/%s", schema ? schema : "");
        if (schema)
            json_out_string(j, "$ref", ref);
        else
            json_out_string(j, "type", "string");
        for (int n = 0; n < 3; n++)
            json_out_close(j, '}');
    }
    json_out_close(j, '}');
}

static void web_openapi_operation(struct json_out *j, const struct web_route *r)
{
    static const char *const methods[][2] = {
        {"GET", "get"}, {"POST", "post"}, {"PATCH", "patch"}, {"DELETE", "delete"}};
    bool is_type = strchr(r->answer, '/') != NULL, none = !*r->answer;
    const char *method = "get", *status = none ? "204" : strcmp(r->name, "submitJob") == 0 ? "201" : "200";

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i][0], r->method) == 0)
            method = methods[i][1];
    json_out_open(j, method, '{');
    json_out_string(j, "operationId", r->name);
    json_out_string(j, "summary", r->meaning);
    web_openapi_parameters(j, r);
    if (r->body)
        web_openapi_body(j, r);
    json_out_open(j, "responses", '{');
    web_openapi_answer(j, status, "Done.",
                       none      ? NULL
                       : is_type ? r->answer
                                 : "application/json",
                       none || is_type ? NULL : r->answer);
    web_openapi_answer(j, "default", "A problem.", "application/problem+json", "Problem");
    json_out_close(j, '}');
    json_out_open(j, "security", '[');
    if (r->right != WEB_OPEN) {
        json_out_open(j, NULL, '{');
        json_out_open(j, "token", '[');
        json_out_close(j, ']');
        json_out_close(j, '}');
    }
    json_out_close(j, ']');
    json_out_close(j, '}');
}

static void web_openapi_paths(struct json_out *j)
{
    size_t n;
    const struct web_route *r = web_routes(&n);

    json_out_open(j, "paths", '{');
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(r[i].path, r[i - 1].path) != 0)
            json_out_open(j, r[i].path, '{');
        web_openapi_operation(j, &r[i]);
        if (i + 1 == n || strcmp(r[i].path, r[i + 1].path) != 0)
            json_out_close(j, '}');
    }
    json_out_close(j, '}');
}

/* Lists are an array of objects under their own name, with the numbers of their page. */
static const struct {
    const char *schema, *member, *item;
    bool paged;
} lists[] = {{"JobList", "jobs", "Object", true},
             {"NodeList", "nodes", "Object", true},
             {"QueueList", "queues", "Object", true},
             {"ReservationList", "reservations", "Object", true},
             {"SchedulerList", "schedulers", "Object", true},
             {"PreemptionList", "preemptions", "Preemption", false},
             {"EventList", "events", "Any", false}};

static void web_openapi_list(struct json_out *j, size_t i)
{
    static const char *const page[] = {"total", "offset", "next"};
    char text[200];

    json_out_open(j, lists[i].schema, '{');
    json_out_string(j, "type", "object");
    json_out_open(j, "properties", '{');
    snprintf(text, sizeof text, "{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/%s\"}}",
             lists[i].item);
    json_out_any(j, lists[i].member, text);
    for (int p = 0; lists[i].paged && p < 3; p++)
        json_out_any(j, page[p], "{\"type\":\"integer\"}");
    json_out_close(j, '}');
    json_out_close(j, '}');
}

static void web_openapi_components(struct json_out *j)
{
    json_out_open(j, "components", '{');
    json_out_any(j, "securitySchemes", "{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"}}");
    json_out_open(j, "schemas", '{');
    json_out_any(
        j, "Object",
        "{\"type\":\"object\",\"required\":[\"id\",\"attributes\"],\"properties\":{\"id\":{\"type\":\"string\"},\"attributes\":{\"type\":"
        "\"object\"},\"times\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}}}");
    json_out_any(j, "Created",
                 "{\"type\":\"object\",\"required\":[\"id\"],\"properties\":{\"id\":{\"type\":\"string\"}}}");
    json_out_any(
        j, "Preemption",
        "{\"type\":\"object\",\"properties\":{\"job\":{\"type\":\"string\"},\"user\":{\"type\":\"string\"},\"queue\":{\"type\":\"string\"},"
        "\"for\":{\"type\":\"string\"},\"method\":{\"type\":\"string\"},\"at\":{\"type\":\"integer\"},\"lost_core_seconds\":{\"type\":\"number\"}}}");
    json_out_any(
        j, "Problem",
        "{\"type\":\"object\",\"required\":[\"type\",\"title\",\"status\"],\"properties\":{\"type\":{\"type\":\"string\"},\"title\":{\"type\":"
        "\"string\"},\"status\":{\"type\":\"integer\"},\"detail\":{\"type\":\"string\"},\"pbs_code\":{\"type\":\"integer\"}}}");
    json_out_any(
        j, "Plan",
        "{\"type\":\"object\",\"required\":[\"job\",\"verdict\"],\"properties\":{\"job\":{\"type\":\"string\"},\"verdict\":{\"type\":\"string\"}}}");
    json_out_any(
        j, "Log",
        "{\"type\":\"object\",\"required\":[\"id\",\"lines\"],\"properties\":{\"id\":{\"type\":\"string\"},\"days\":{\"type\":\"integer\"},"
        "\"lines\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"time\":{\"type\":\"string\"},\"source\":{\"type\":"
        "\"string\"},\"text\":{\"type\":\"string\"}}}}}}");
    json_out_any(
        j, "Policy",
        "{\"type\":\"object\",\"required\":[\"sched\",\"queue\"],\"properties\":{\"sched\":{\"type\":\"object\"},\"queue\":{\"type\":\"object\"}}}");
    json_out_any(j, "Any", "{\"type\":\"object\"}");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        web_openapi_list(j, i);
    json_out_close(j, '}');
    json_out_close(j, '}');
}

void web_openapi_show(struct web_call *w)
{
    struct json_out *j = &w->json;

    if (!web_call_json(w))
        return;
    json_out_string(j, "openapi", "3.0.3");
    json_out_open(j, "info", '{');
    json_out_string(j, "title", "Cede");
    json_out_string(j, "version", CEDE_VERSION);
    json_out_string(j, "description", "A workload manager, as the user who runs pbs_web sees it.");
    json_out_close(j, '}');
    web_openapi_paths(j);
    web_openapi_components(j);
    web_call_json_end(w, 200);
}
