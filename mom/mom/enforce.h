#ifndef ENFORCE_H
#define ENFORCE_H
/* Is a job over one of its limits? Pure. */
#include <stdbool.h>
#include <stddef.h>

#include <exec.h>

struct config;
struct run;

/* True with the reason and the text for log and stderr ("cput 11 exceeded limit 10"). */
bool enforce_is_over(const struct config *c, const struct run *r, const struct exec_usage *u,
                     exec_reason *reason, char *text, size_t max);

#endif
