#ifndef SYSTEMD_H
#define SYSTEMD_H
/* What systemd expects of the main process of a unit of Type=notify (sd_notify(3)). The library of systemd is not needed for it.
 *
 *   systemd_take_socket   first of all, before threads
 *   systemd_tell_ready    when the service answers; any thread */
#include <stdbool.h>
#include <sys/un.h>

struct systemd_socket {
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* empty: none waits */
};

/* Where systemd, or a program like it, waits to be told that this process is ready; true if it does. NOTIFY_SOCKET is no longer in
 * the environment then, so that nothing that this process starts speaks in its name. */
bool systemd_take_socket(struct systemd_socket *out);

/* Tell it, once. What cannot be sent is lost: systemd says that the start took too long. Nothing where none waits. */
void systemd_tell_ready(struct systemd_socket *s);

#endif
