/* The rows of exit_status.def as a table, looked through one by one: they are few, and asked for at the end of a job. See
 * exit_status.h. */
#include "exit_status.h"

enum { ENDS = false, AGAIN = true };

static const struct exit_status_row rows[] = {
#define EXIT_STATUS(id, number, again, meaning) {(number), (again), meaning},
#include "exit_status.def"
#undef EXIT_STATUS
};

const struct exit_status_row *exit_status_row(size_t i)
{
    return i < sizeof rows / sizeof rows[0] ? &rows[i] : NULL;
}

bool exit_status_is_again(int status)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].number == status)
            return rows[i].again;
    return false;
}
