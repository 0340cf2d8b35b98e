#ifndef EXIT_STATUS_H
#define EXIT_STATUS_H
/* The exit statuses of jobs that no script has set, from exit_status.def. Constant; any thread.
 *
 * An Exit_status from 0 to 255 is what the script ended with; EXIT_STATUS_SIGNAL and more is a signal that ended it. */
#include <stdbool.h>
#include <stddef.h>

enum exit_status {
#define EXIT_STATUS(id, number, ...) EXIT_STATUS_##id = (number),
#include "exit_status.def"
#undef EXIT_STATUS
    EXIT_STATUS_SIGNAL = 256 /* and the number of the signal */
};

struct exit_status_row {
    int number;
    bool again;          /* a host asks for another try */
    const char *meaning; /* without a full stop */
};

/* Row i in the order of the file, or NULL behind the last. */
const struct exit_status_row *exit_status_row(size_t i);

/* Return true if a host that reports `status` asks for another try. */
bool exit_status_is_again(int status);

#endif
