#ifndef STATUS_OUT_H
#define STATUS_OUT_H
/* Objects with all their attributes, for people (full), for awk (DSV) and for programs (JSON). */
#include <stdbool.h>
#include <stdio.h>

#include "pbs_ifl.h"

struct json_out;

enum status_format { STATUS_FULL, STATUS_DSV, STATUS_JSON };

/* default, dsv, json; case does not matter. -1: none of them. */
int status_out_format(const char *text, enum status_format *out);

/* Full: "Job Id: 41.svr1", then "    name[.resource] = value" a line, then a blank line. Values are folded
 * after commas at column 78, with a tab before the rest; `unfolded` gives each one line, newlines in it as
 * \n. */
struct status_full {
    const char *head;   /* "Job Id: " or "" */
    const char *indent; /* "    " */
    bool unfolded;
    size_t fold; /* another column than 78; 0: 78 */
};
void status_out_full(FILE *f, const struct status_full *how, const struct batch_status *object);

/* "Job Id: 41.svr1|Job_Name=x|..." and a newline; the delimiter inside values has a backslash before it. */
void status_out_dsv(FILE *f, const char *head, const char *delimiter, const struct batch_status *object);
/* One value: the delimiter in it behind a backslash, a newline as \n, other control characters as ^X. */
void status_out_dsv_value(FILE *f, const char *value, const char *delimiter);

/* One member, the object's name as key. Resources of one attribute become one object, so does
 * Variable_List. Job_Name, project and Account_Name are always strings. `omit` may leave an attribute out;
 * NULL: none. */
void status_out_json(struct json_out *j, const struct batch_status *object,
                     bool (*omit)(const struct attrl *a));

/* The same, left open for more members; json_out_close ends it. */
void status_out_json_open(struct json_out *j, const struct batch_status *object,
                          bool (*omit)(const struct attrl *a));

/* timestamp, pbs_version, pbs_server: what every JSON answer begins with. Leaves the outermost object open.
 * `server` is the server's own entry or NULL. */
void status_out_json_head(struct json_out *j, FILE *f, const struct batch_status *server);

/* Does the attribute hold a time? Then its value is in seconds since 1970, and shown as a date. */
bool status_out_is_date(const struct attrl *a);

/* The value as it is shown: times as dates, arguments as they were typed. `scratch` of STATUS_SCRATCH
 * bytes holds what had to be made; a text that does not fit is shown as it is. */
enum { STATUS_SCRATCH = 65536 };
const char *status_out_value(const struct attrl *a, char scratch[static STATUS_SCRATCH]);

#endif
