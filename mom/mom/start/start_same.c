/* The server repeats a START whose answer was lost, and the MOM accepts it. A server that was restored from an older copy of its store
 * may give the same job and run number to something else; that is refused, so that no job runs under the name of another. Compared is
 * what a repetition cannot change: attributes are not, since UPDATE may have changed those of the run, nor are addresses. */
#include "start_same.h"

#include <string.h>

#include <exec.h>

static bool are_hosts_same(const struct exec_start_args *a, const struct exec_start_args *b)
{
    if (a->my_host != b->my_host || a->hosts.hosts_len != b->hosts.hosts_len)
        return false;
    for (u_int i = 0; i < a->hosts.hosts_len; i++)
        if (strcmp(a->hosts.hosts_val[i].service, b->hosts.hosts_val[i].service) != 0)
            return false;
    return true;
}

bool start_same(const struct exec_start_args *a, const struct exec_start_args *b)
{
    return strcmp(a->id, b->id) == 0 && strcmp(a->store, b->store) == 0 && strcmp(a->user, b->user) == 0 &&
           strcmp(a->group, b->group) == 0 && strcmp(a->cookie, b->cookie) == 0 &&
           a->script_length == b->script_length && a->launch == b->launch && are_hosts_same(a, b);
}
