#ifndef RUN_RULES_H
#define RUN_RULES_H
/* The rows of a run's life on this host: what each event does in each state (run_rules.c describes the states). */
#include <stddef.h>

#include "run_fsm.h"

extern const struct run_row run_rules[];
extern const size_t run_rules_n;

#endif
