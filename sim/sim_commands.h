#ifndef SIM_COMMANDS_H
#define SIM_COMMANDS_H
/* Whoever started the simulator says what becomes of its jobs, a line on its standard input for each step:
 *
 *   JOB start           its script begins (START, and on several services LAUNCH, have come)
 *   JOB finish STATUS   it ends by itself
 *   JOB fail            it is gone without a word
 *
 * Each line is answered by one on standard output: "JOB STEP: done", or what is in the way. At the end of the input nothing
 * more is said; jobs stay as they are. */
#include "err.h"

struct sim_commands;
struct execsim;
struct loop;

struct sim_commands *sim_commands_create(struct loop *l, struct execsim *s, struct err *e);
void sim_commands_destroy(struct sim_commands *b);

#endif
