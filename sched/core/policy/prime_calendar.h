#ifndef PRIME_CALENDAR_H
#define PRIME_CALENDAR_H
/* Prime time and dedicated time: which hours of which days, from the files holidays and dedicated_time.
 * reference/scheduler.md, "Prime and dedicated time".
 *
 * Times are seconds since the epoch; the hours in the files are local time. It knows no clock. Before anything is read,
 * and without a holidays file, it is always prime time and never dedicated time.
 */
#include <stdbool.h>
#include <stdint.h>

#include "err.h"

struct prime;

/* ^ What is odd about a file, in PBS's words. */
typedef void prime_say_fn(void *arg, const char *text);

struct prime *prime_create(void);
void prime_destroy(struct prime *p);

/* Take the text of holidays; NULL: there is no such file. Lines that cannot be read are told to `say` and passed over; so is
 * a file whose year is over at `now_s`. */
void prime_read_holidays(struct prime *p, const char *text, int64_t now_s, prime_say_fn *say, void *arg);

/* Take the text of dedicated_time, "MM/DD/YYYY HH:MM MM/DD/YYYY HH:MM" a line; NULL: there is no such file. -1: EINVAL
 * with the line, and nothing is changed. */
int prime_read_dedicated(struct prime *p, const char *text, struct err *e);

bool prime_is(const struct prime *p, int64_t t_s);
int64_t prime_changes_s(struct prime *p, int64_t t_s); /* when it is otherwise next; 0: never */

bool prime_is_dedicated(const struct prime *p, int64_t t_s);
int64_t prime_dedicated_changes_s(const struct prime *p, int64_t t_s); /* begins or ends next; 0: never */
bool prime_has_dedicated(const struct prime *p);

#endif
