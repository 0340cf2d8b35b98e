/* Who may give orders here: the store that is obeyed, and no server of it that has been replaced. See
 * exec_fence.h.
 *
 * Orders differ in shape, so a table says where each has its store and epoch. */
#include "exec_fence.h"

#include <assert.h>
#include <stddef.h>
#include <exec.h>

#include "pbs_error.h"

/* Where in each order the server's identity and epoch are. */
static const struct {
    uint32_t proc;
    size_t store, epoch;
} fences[] = {
#define FENCE(proc, type)                                                                                    \
    {                                                                                                        \
        proc, offsetof(type, store), offsetof(type, epoch)                                                   \
    }
    FENCE(EXEC_START, exec_start_args),         FENCE(EXEC_LAUNCH, exec_order_args),
    FENCE(EXEC_SIGNAL, exec_signal_args),       FENCE(EXEC_SUSPEND, exec_attempt_args),
    FENCE(EXEC_RESUME, exec_attempt_args),      FENCE(EXEC_CHECKPOINT, exec_checkpoint_args),
    FENCE(EXEC_NOTICE, exec_notice_args),       FENCE(EXEC_UPDATE, exec_update_args),
    FENCE(EXEC_TERMINATE, exec_terminate_args), FENCE(EXEC_PURGE, exec_order_args),
    FENCE(EXEC_MESSAGE, exec_message_args),     FENCE(EXEC_STOP, exec_stop_args),
    FENCE(EXEC_PEEK, exec_peek_args),           FENCE(EXEC_HOOKS, exec_hooks_args),
    FENCE(EXEC_WITHDRAW, exec_attempt_args),
#undef FENCE
};

int exec_fence_check(uint32_t proc, const void *args, const char *store, uint64_t epoch, struct err *e)
{
    const char *said_store = NULL;
    u_quad_t said_epoch = 0;

    for (size_t i = 0; i < sizeof fences / sizeof *fences; i++)
        if (fences[i].proc == proc) {
            memcpy(&said_store, (const char *)args + fences[i].store, sizeof said_store);
            memcpy(&said_epoch, (const char *)args + fences[i].epoch, sizeof said_epoch);
        }
    assert(said_store);
    if (strcmp(said_store, store) != 0)
        return err_set(e, PBSE_PERM, "store %s is obeyed here, not %s", store, said_store);
    if (said_epoch < epoch)
        return err_set(e, PBSE_PERM, "epoch %llu is obeyed here, not %llu", (unsigned long long)epoch,
                       (unsigned long long)said_epoch);
    return 0;
}
