#ifndef CLOSING_H
#define CLOSING_H
/* What is done when a job's processes are gone: its own directories go, its output is delivered. Idempotent. */

struct shep_close_args;
struct shep_close_result;
struct shep_order;

void closing_do(const char *path, const struct shep_order *o, const struct shep_close_args *a,
                struct shep_close_result *r);

#endif
