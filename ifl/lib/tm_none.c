/* Calls that tm.h declares and no PBS implements. They exist so that programs which name them link, and say
 * TM_ENOTIMPLEMENTED, as PBS does. */
#include "tm.h"

int tm_notify(int tm_signal)
{
    return TM_ENOTIMPLEMENTED;
}

int tm_alloc(char *resources, tm_event_t *event)
{
    return TM_ENOTIMPLEMENTED;
}

int tm_dealloc(tm_node_id node, tm_event_t *event)
{
    return TM_ENOTIMPLEMENTED;
}

int tm_create_event(tm_event_t *event)
{
    return TM_ENOTIMPLEMENTED;
}

int tm_destroy_event(tm_event_t *event)
{
    return TM_ENOTIMPLEMENTED;
}

int tm_register(tm_whattodo_t *what, tm_event_t *event)
{
    return TM_ENOTIMPLEMENTED;
}
