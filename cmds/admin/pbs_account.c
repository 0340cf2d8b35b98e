/* pbs_account: the account of PBS's services on Windows. Scripts for both systems call it everywhere; on this system
 * it only prints that accounts belong to the system. */
#include "cmd.h"

struct account {
    struct cmd_args a;
    bool service, instances;
    const char *user, *password, *domain, *register_path, *unregister_path, *command;
};

static const struct option_row rows[] = {
    CMD_TEXT('a', struct account, user, "PBS_service_account_name", "the account to make or change"),
    CMD_TEXT('c', struct account, domain, "PBS_service_account_name", "make the account if it is missing"),
    CMD_FLAG('s', struct account, service, "add what a service account needs"),
    CMD_TEXT('p', struct account, password, "password", "its password"),
    CMD_TEXT('R', struct account, register_path, "service_name", "register a service"),
    CMD_TEXT('U', struct account, unregister_path, "service_name", "unregister a service"),
    CMD_TEXT('o', struct account, command, "file", "where to write what was done"),
    CMD_FLAG('i', struct account, instances, "every instance"),
};

static int pbs_account_run(void *settings, int n, char *operands[])
{
    struct account *q = settings;

    if (n)
        return cmd_usage(&q->a);
    cmd_error(&q->a,
              "service accounts are a matter of Windows; here PBS_DAEMON_SERVICE_USER of pbs.conf names the "
              "server's user, and the system keeps accounts");
    return 1;
}

const struct cmd command = {
    .options = {.program = "pbs_account", CMD_ROWS(rows)},
    .usage =
        "usage: pbs_account [-a account] [-c account] [-s] [-p password] [-R service] [-U service] [-o file]\n",
    .usage_exit = 1,
    .size = sizeof(struct account),
    .run = pbs_account_run,
};
