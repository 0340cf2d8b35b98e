#ifndef QMGR_EDIT_H
#define QMGR_EDIT_H
/* Lines typed at a terminal: prompt, editing, history kept in ~/.pbs_qmgr_history. */
#include <stdio.h>

struct qmgr_edit;

/* NULL: no memory, or the terminal cannot be used. */
struct qmgr_edit *qmgr_edit_create(void);
void qmgr_edit_destroy(struct qmgr_edit *e); /* writes the history */

/* One line without its newline, borrowed until the next call; NULL: the end. "!n" has become line n of the
 * history; a number that is none is said, and the line is then "". */
const char *qmgr_edit_line(struct qmgr_edit *e, const char *prompt);

void qmgr_edit_history(struct qmgr_edit *e, FILE *f, int n); /* the last n lines; 0: all */

#endif
