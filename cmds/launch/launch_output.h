#ifndef LAUNCH_OUTPUT_H
#define LAUNCH_OUTPUT_H
/* What ranks write, to our own standard output and error: as it comes, or line by line behind the number of its rank. */
#include <stdbool.h>
#include <stddef.h>

struct launch_output;

struct launch_output *launch_output_create(unsigned n_ranks, bool label); /* NULL: no memory */
/* What has no end of line yet is written too. */
void launch_output_destroy(struct launch_output *o);
void launch_output_take(struct launch_output *o, unsigned rank, bool is_error, const char *bytes, size_t n);

#endif
