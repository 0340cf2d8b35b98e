#ifndef NODE_SHOW_H
#define NODE_SHOW_H
/* What pbsnodes shows of a node: records, the list of those that are down, and the two tables of -S. */
#include <stdbool.h>
#include <stdio.h>

#include "attrs.h"

struct json_out;
struct jobid_set;

/* Print "node07", its attributes with five blanks before them, a blank line. */
void node_show_record(FILE *f, const struct batch_status *node);
void node_show_dsv(FILE *f, const char *delimiter, const struct batch_status *node);
void node_show_json(struct json_out *j, const struct batch_status *node);

bool node_show_is_down(const struct batch_status *node);       /* its state has down or offline */
void node_show_down(FILE *f, const struct batch_status *node); /* name, state, comment */

/* Print the tables. `whole` is L: nothing is cut. `suspended` is NULL for -S; for -Sj it holds the suspended jobs. */
void node_show_heading(FILE *f, bool jobs);
void node_show_row(FILE *f, const struct batch_status *node, const struct jobid_set *suspended, bool whole);
void node_show_row_json(struct json_out *j, const struct batch_status *node,
                        const struct jobid_set *suspended);
void node_show_row_dsv(FILE *f, const char *delimiter, const struct batch_status *node,
                       const struct jobid_set *suspended);

#endif
