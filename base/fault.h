#ifndef FAULT_H
#define FAULT_H
/* Failing on purpose at named points, in the test build only (-DCEDE_FAULTS; `make asan` has it).
 *
 * CEDE_FAULT holds rules "point[:nth]=what", separated by commas: `point` as the code names it, `nth` the
 * first pass that fails (1 when missing; that one and all later ones: "nth+"), `what` an errno name or number
 * (the point reports that error), "kill" (SIGKILL to ourselves, now), "exit", or "sleep:MS".
 *
 *   int broken = fault_at("commit.before");
 *   if (broken)
 *       return err_errno(e, broken, "cannot commit");
 */
#ifdef CEDE_FAULTS
/* 0: continue; else the errno value to fail with. May not return. Loop thread or worker. */
int fault_at(const char *point);
#else
static inline int fault_at(const char *point)
{
    (void)point;
    return 0;
}
#endif

#endif
