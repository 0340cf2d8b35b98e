#ifndef LEDGER_H
#define LEDGER_H
/* What was spent in the last hour, minute by minute, and its text: "29920958=120.5 29920960=3600", each minute by its number
 * since 1970. Pure; caller's memory. */
#include <stdint.h>

struct strbuf;

/* Amounts of the last hour, by the minute: one slot more than minutes, since the window begins and ends within one. */
enum { LEDGER_WINDOW_S = 3600, LEDGER_MINUTES = 61 };

struct ledger {
    unsigned n;
    struct {
        int64_t minute; /* rising */
        double spent;
    } entry[LEDGER_MINUTES];
};

/* What cannot be read is left out; NULL is empty. */
void ledger_parse(const char *text, struct ledger *out);
int ledger_format(const struct ledger *l, struct strbuf *out); /* -1: the buffer has failed */

/* A minute counts until an hour after its end. */
double ledger_sum(const struct ledger *l, int64_t now_s);
/* Add to the present minute, and drop what no longer counts. */
void ledger_add(struct ledger *l, int64_t now_s, double spent);
/* Take out again what was added at `at_s`, which has not been spent; at most what is there. */
void ledger_take_back(struct ledger *l, int64_t at_s, double spent);
/* When the sum will be less than now; 0: never. */
int64_t ledger_next_s(const struct ledger *l, int64_t now_s);

#endif
