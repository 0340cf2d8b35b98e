#ifndef DATE_TEXT_H
#define DATE_TEXT_H
/* Points in time as people type them: [[[[CC]YY]MM]DD]hhmm[.SS], local time. */
#include <stdint.h>

/* What is left out on the left is taken so that the time is the next that matches after `now_s`: "0900" is
 * today's or tomorrow's nine o'clock. Two digits of year: 69 to 99 are 19xx. 0 and *out_s (seconds since
 * 1970), -1: not of this form, or no such day or time. */
int date_text_parse(const char *text, int64_t now_s, int64_t *out_s);

#endif
