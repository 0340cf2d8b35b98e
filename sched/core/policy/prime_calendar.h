#ifndef PRIME_CALENDAR_H
#define PRIME_CALENDAR_H
/* Prime time and dedicated time: which hours of which days, from the files holidays and dedicated_time.
 *
 * Times are seconds since the epoch; the hours in the files are local time. It knows no clock. Before anything is read,
 * and without a holidays file, it is always prime time and never dedicated time.
 */
#include <stdbool.h>
#include <stdint.h>

#include "err.h"

struct prime_calendar;

/* ^ What is odd about a file, in PBS's words. */
typedef void prime_calendar_say_fn(void *arg, const char *text);

struct prime_calendar *prime_calendar_create(void);
void prime_calendar_destroy(struct prime_calendar *p);

/* Take the text of holidays; NULL: there is no such file. Lines that cannot be read are told to `say` and
 * passed over; a file whose year is over at `now_s` is told, and is still taken. A file without YEAR, or
 * with YEAR 0, makes all hours prime time. */
void prime_calendar_read_holidays(struct prime_calendar *p, const char *text, int64_t now_s,
                                  prime_calendar_say_fn *say, void *arg);

/* Take the text of dedicated_time, "MM/DD/YYYY HH:MM MM/DD/YYYY HH:MM" a line; NULL: there is no such file. -1: EINVAL
 * with the line, and nothing is changed. */
int prime_calendar_read_dedicated(struct prime_calendar *p, const char *text, struct err *e);

bool prime_calendar_is_prime(const struct prime_calendar *p, int64_t t_s);
int64_t prime_calendar_changes_s(struct prime_calendar *p,
                                 int64_t t_s); /* when it is otherwise next; 0: never */

bool prime_calendar_is_dedicated(const struct prime_calendar *p, int64_t t_s);
int64_t prime_calendar_dedicated_changes_s(const struct prime_calendar *p,
                                           int64_t t_s); /* begins or ends next; 0: never */
bool prime_calendar_has_dedicated(const struct prime_calendar *p);

#endif
