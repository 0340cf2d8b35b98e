/* Vnodes that a hook gives back. See host_release.h. */
#include "host_release.h"

#include <stdlib.h>
#include <string.h>

#include <exec.h>

#include "host_changes.h"
#include "mom_run.h"
#include "strbuf.h"

enum { TEXT_MAX = 1 << 20 };

static void host_release_forget(struct run *r)
{
    free(r->release);
    free(r->release_hook);
    r->release = r->release_hook = NULL;
}

void host_release_take(struct run *r, const char *hook, const json_t *answer)
{
    const json_t *list = json_object_get(json_object_get(answer, "release_nodes"), "node_list");
    struct strbuf b;

    if (!json_array_size(list) || r->started || run_is_sister(r))
        return;
    strbuf_init(&b, TEXT_MAX);
    for (size_t i = 0; i < json_array_size(list); i++)
        strbuf_addf(&b, "%s%s", b.len ? "+" : "", json_string_value(json_array_get(list, i)));
    host_release_forget(r);
    r->release = strbuf_take(&b);
    r->release_hook = strdup(hook);
    strbuf_fini(&b);
}

void host_release_say(struct mom *m, struct run *r)
{
    struct hook_change c = {.object = "job", .name = "", .attr = EXEC_HOOK_RELEASE, .resource = ""};
    const struct hook_changes all = {.n = 1, .list = &c};
    const struct host_word w = {
        .hook = r->release_hook ? r->release_hook : "", .event = "execjob_launch", .user = ""};

    if (!r->release)
        return;
    c.value = r->release;
    host_changes_say(m, r, &w, &all);
    host_release_forget(r);
}
