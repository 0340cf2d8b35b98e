#ifndef DATE_TEXT_H
#define DATE_TEXT_H
/* Points in time as people type them: [[[[CC]YY]MM]DD]hhmm[.SS], local time. */
#include <stdint.h>

/* Parse a time. What is left out on the left is chosen so that the time is the next match after `now_s`: "0900" is
 * nine o'clock of today or tomorrow. Years of two digits from 69 to 99 are 19xx. Return 0 and *out_s (seconds since
 * 1970), or -1: not of this form, or no such day or time. */
int date_text_parse(const char *text, int64_t now_s, int64_t *out_s);

#endif
