/* pbs_shepherd: the parent of one job on one host, or one errand as its owner.
 *
 *   pbs_shepherd hold DIR [FD]                   hold the run in DIR; FD is a socket to the MOM
 *   pbs_shepherd zygote FD DIR ROOM             start shepherds at the word of the MOM behind FD, whose runs are in DIR
 *   pbs_shepherd script WHICH DIR FILE ARGS...   run prologue or epilogue with the job's files
 *   pbs_shepherd action DIR EVENT SID IMAGE SCRIPT ARGS...   a script of $action
 *   pbs_shepherd stage DIR < files              bring the files that the job stages in (struct shep_stage)
 *   pbs_shepherd pack UID GID DIR > archive      what a job has saved in DIR goes to another host
 *   pbs_shepherd unpack UID GID DIR < archive    and has come from there
 *   pbs_shepherd close DIR < arguments           deliver and clean up where no shepherd is left (struct
 *                                                shep_close_args in, struct shep_close_result out)
 *
 * Started by pbs_mom alone. Takes nothing from its environment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "action.h"
#include "closing.h"
#include "rundir.h"
#include "shep_title.h"
#include "supervise.h"
#include "zygote.h"
#include "script.h"
#include "stage.h"
#include "ckpt_transfer.h"

enum { EXIT_USAGE = 2 };

static unsigned shepherd_main_number(const char *digits)
{
    return (unsigned)strtoul(digits, NULL, 10);
}

int main(int argc, char *argv[])
{
    if (argc >= 3 && strcmp(argv[1], "hold") == 0) {
        static char path[RUNDIR_PATH_MAX + 1]; /* the argument is written over */

        (void)snprintf(path, sizeof path, "%s", argv[2]);
        shep_title_keep(argv);
        return supervise_run(path, argc > 3 ? atoi(argv[3]) : -1);
    }
    if (argc == 5 && strcmp(argv[1], "zygote") == 0)
        return zygote_run(atoi(argv[2]), argv);
    if (argc >= 5 && strcmp(argv[1], "script") == 0)
        return script_run(argv[3], argv[2], argv[4], argv + 5);
    if (argc >= 7 && strcmp(argv[1], "action") == 0)
        return action_run(argv[2], atoi(argv[4]), argv[5], argv + 6); /* argv[3] names the event to people */
    if (argc == 3 && strcmp(argv[1], "stage") == 0)
        return stage_errand(argv[2]);
    if (argc == 5 && strcmp(argv[1], "pack") == 0)
        return ckpt_transfer_pack(shepherd_main_number(argv[2]), shepherd_main_number(argv[3]), argv[4]);
    if (argc == 5 && strcmp(argv[1], "unpack") == 0)
        return ckpt_transfer_unpack(shepherd_main_number(argv[2]), shepherd_main_number(argv[3]), argv[4]);
    if (argc == 3 && strcmp(argv[1], "close") == 0)
        return closing_errand(argv[2]);
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("pbs_version = %s\n", CEDE_VERSION);
        return 0;
    }
    fprintf(stderr, "usage: pbs_shepherd hold DIR [FD] | script WHICH DIR FILE ARGS... | close DIR\n"
                    "(started by pbs_mom)\n");
    return EXIT_USAGE;
}
