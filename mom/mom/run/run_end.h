#ifndef RUN_END_H
#define RUN_END_H
/* The end record of a shepherd as PBS says it: Exit_status and reason. Pure. */
struct run_failure;
struct shep_ended;

void run_end_judge(const struct shep_ended *ended, struct run_failure *out);

#endif
