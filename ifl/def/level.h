#ifndef LEVEL_H
#define LEVEL_H
/* The level of the peer that sends a request; reading and writing of attributes depend on it.
 *
 * A peer has one level per request (owner of the object or plain user: LEVEL_USER). LEVEL_SCHED is a registered
 * scheduler, LEVEL_SERVER the server itself; in a definition LEVEL_SERVER means "no client".
 */
enum level { LEVEL_USER, LEVEL_OPERATOR, LEVEL_MANAGER, LEVEL_SCHED, LEVEL_SERVER, LEVEL_COUNT };

/* As messages and the manual say it: "user", "operator", "manager", "scheduler", "server". */
static inline const char *level_name(enum level l)
{
    static const char *const name[LEVEL_COUNT] = {"user", "operator", "manager", "scheduler", "server"};

    return name[l];
}

#endif
