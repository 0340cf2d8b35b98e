/* tm_poll waits for any event, not for a certain one. A caller with several open calls must use tm_wait_any, since
 * tm_wait_for throws away the other events. */
#include "tm_wait.h"

#include <stddef.h>

int tm_wait_any(tm_event_t *event, int *code)
{
    int rc = tm_poll(TM_NULL_EVENT, event, 1, code);

    if (rc != TM_SUCCESS) {
        *code = rc;
        return -1;
    }
    return 0;
}

int tm_wait_for(tm_event_t event)
{
    tm_event_t done;
    int code;

    do
        if (tm_wait_any(&done, &code) < 0)
            return code;
    while (done != event);
    return code;
}

const char *tm_wait_error_text(int code)
{
    static const struct {
        int code;
        const char *text;
    } rows[] = {
        {TM_SUCCESS, "no error"},
        {TM_ESYSTEM, "the system refused"},
        {TM_ENOEVENT, "there is no event"},
        {TM_ENOTCONNECTED, "the job's shepherd cannot be reached"},
        {TM_EUNKNOWNCMD, "the request is not known"},
        {TM_ENOTIMPLEMENTED, "this is not implemented"},
        {TM_EBADENVIRONMENT, "the environment is not that of a job"},
        {TM_ENOTFOUND, "not found"},
        {TM_BADINIT, "not initialised"},
        {TM_ESESSION, "the session belongs to a task already"},
        {TM_EUSER, "the user is not known there"},
        {TM_EOWNER, "not the owner"},
        {TM_ENOPROC, "there is no such process"},
        {TM_EHOOK, "a hook refused"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].code == code)
            return rows[i].text;
    return "an error without a name";
}
