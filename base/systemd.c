/* Telling systemd: see systemd.h. NOTIFY_SOCKET names a datagram socket: an absolute path, or one in the abstract namespace, with @ for its
 * first byte. */
#include "systemd.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

bool systemd_take_socket(struct systemd_socket *out)
{
    const char *path = getenv("NOTIFY_SOCKET");

    *out = (struct systemd_socket){0};
    if (path && (*path == '/' || *path == '@') && strlen(path) < sizeof out->path)
        snprintf(out->path, sizeof out->path, "%s", path);
    unsetenv("NOTIFY_SOCKET");
    return out->path[0] != '\0';
}

void systemd_tell_ready(struct systemd_socket *s)
{
    static const char text[] = "READY=1";
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    size_t n = strlen(s->path);
    int fd = n ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;

    if (fd < 0)
        return;
    memcpy(at.sun_path, s->path, n);
    if (s->path[0] == '@')
        at.sun_path[0] = '\0';
    sendto(fd, text, sizeof text - 1, MSG_NOSIGNAL, (struct sockaddr *)&at,
           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
    close(fd);
    s->path[0] = '\0';
}
