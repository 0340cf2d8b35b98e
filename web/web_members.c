/* The members of an object as JSON. See web_members.h. */
#include "web_members.h"

#include <stdlib.h>
#include <string.h>

#include "node_show.h"
#include "status_out.h"

enum { MEMBER_NAME_MAX = 128 };

/* Its times once more, as numbers: a program need not know the time zone of this host. */
static void web_members_times(struct json_out *j, const struct attrl *a)
{
    bool open = false;

    for (; a; a = a->next) {
        char name[MEMBER_NAME_MAX];

        if (!a->value || !status_out_is_date(a) || a->value[strspn(a->value, "0123456789")])
            continue;
        if (!open)
            json_out_open(j, "times", '{');
        open = true;
        snprintf(name, sizeof name, "%s%s%s", a->name, a->resource ? "." : "",
                 a->resource ? a->resource : "");
        json_out_number(j, name, strtoll(a->value, NULL, 10));
    }
    if (open)
        json_out_close(j, '}');
}

void web_members_put(struct json_out *j, const struct batch_status *o, bool is_node)
{
    static char attributes[] = "attributes";
    struct batch_status shown = *o;

    json_out_string(j, "id", o->name);
    shown.name = attributes;
    if (is_node)
        node_show_json(j, &shown);
    else
        status_out_json(j, &shown, NULL);
    web_members_times(j, o->attribs);
}
