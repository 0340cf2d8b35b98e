/* Preloaded: as long as the file USERS_AWAY is there, users cannot be looked up by number; the directory does not answer. */
#include <errno.h>
#include <dlfcn.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

int getpwuid_r(uid_t uid, struct passwd *p, char *buffer, size_t n, struct passwd **found)
{
    int (*real)(uid_t, struct passwd *, char *, size_t, struct passwd **) = dlsym(RTLD_NEXT, "getpwuid_r");
    const char *path = getenv("USERS_AWAY");

    if (!path || access(path, F_OK) < 0)
        return real(uid, p, buffer, n, found);
    *found = NULL;
    return EIO;
}
