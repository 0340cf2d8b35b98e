#ifndef RECOVER_H
#define RECOVER_H
/* After a restart: the directories of runs become runs again, in the state that their files tell, and each continues where
 * it was. What was half-made is removed: the server sends START again. */
#include "err.h"

struct mom;

/* Called once, after all parts of the MOM have been created and before the loop runs. Directories that hold no run are
 * removed, or set aside in mom_priv/set_aside where an administrator may want to look. -1: mom_priv/jobs cannot be read. */
int recover_runs(struct mom *m, struct err *e);

#endif
