#ifndef SIM_COMMANDS_H
#define SIM_COMMANDS_H
/* The program that started the simulator says what happens to its jobs, a line on standard input for each step:
 *
 *   JOB start           its script begins (START, and on several services LAUNCH, have come)
 *   JOB finish STATUS   it ends by itself
 *   JOB fail            it disappears without an event
 *
 * Each line is answered by one on standard output: "JOB STEP: done", or the error. After the end of the input jobs
 * stay as they are. */
#include "err.h"

struct sim_commands;
struct execsim;
struct loop;

struct sim_commands *sim_commands_create(struct loop *l, struct execsim *s, struct err *e);
void sim_commands_destroy(struct sim_commands *b);

#endif
