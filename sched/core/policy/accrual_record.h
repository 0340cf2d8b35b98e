#ifndef ACCRUAL_RECORD_H
#define ACCRUAL_RECORD_H
/* How much of what a job has used in its present run has been added to the usage of its entity already. So
 * nothing is counted twice, not by a scheduler that was killed and started again either: these are stored
 * with the usage (usage_file.h).
 *
 * fairshare_accrual.c writes; it drops entries of jobs that are gone. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct accrual_record;

struct accrual_entry {
    const char *id; /* interned */
    int64_t run;    /* run_version */
    double amount;
};

struct accrual_record *accrual_record_create(void);
void accrual_record_destroy(struct accrual_record *c);
void accrual_record_clear(struct accrual_record *c);

struct accrual_entry *accrual_record_find(const struct accrual_record *c,
                                          const char *id); /* NULL: nothing of it was counted */
struct accrual_entry *accrual_record_add(struct accrual_record *c,
                                         const char *id); /* found, or made with 0 */
struct accrual_entry *accrual_record_next(const struct accrual_record *c, const struct accrual_entry *after);
void accrual_record_drop(struct accrual_record *c, struct accrual_entry *x);

#endif
