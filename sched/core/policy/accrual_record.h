#ifndef ACCRUAL_RECORD_H
#define ACCRUAL_RECORD_H
/* How much of what a job has used in its present run has been added to somebody's usage already. So nothing is counted
 * twice, not by a scheduler that was killed and started again either: these are stored with the usage.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counted;

struct counted_job {
    const char *id; /* interned */
    int64_t run;    /* run_version */
    double amount;
};

struct counted *counted_create(void);
void counted_destroy(struct counted *c);
void counted_clear(struct counted *c);

struct counted_job *counted_find(const struct counted *c,
                                 const char *id);                   /* NULL: nothing of it was counted */
struct counted_job *counted_add(struct counted *c, const char *id); /* found, or made with 0 */
struct counted_job *counted_next(const struct counted *c, const struct counted_job *after);
void counted_drop(struct counted *c, struct counted_job *x);

#endif
