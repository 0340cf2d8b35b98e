#ifndef RECOVER_H
#define RECOVER_H
/* After a restart: the directories of runs become runs again, in the state that their files tell, and each continues where
 * it was. What was half-made is removed: the server sends START again. */
#include "err.h"

struct mom;

int recover_runs(struct mom *m, struct err *e);

#endif
