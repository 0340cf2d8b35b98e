#ifndef HOST_TASK_H
#define HOST_TASK_H
/* The file in mom_priv/hooks that says which events of tasks have hooks: enum hook_event_bit as hexadecimal digits and a newline. It is
 * missing while there are none. The MOM writes it, shepherds read it. */
#define HOST_TASK_EVENTS "task_events"

#endif
