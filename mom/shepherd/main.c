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
#include <limits.h>
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

static int shepherd_main_hold(int argc, char *argv[])
{
    static char path[RUNDIR_PATH_MAX + 1]; /* the argument is written over */

    (void)snprintf(path, sizeof path, "%s", argv[2]);
    shep_title_keep(argv);
    return supervise_run(path, argc > 3 ? atoi(argv[3]) : -1);
}

static int shepherd_main_zygote(int argc, char *argv[])
{
    return zygote_run(atoi(argv[2]), argv);
}

static int shepherd_main_script(int argc, char *argv[])
{
    return script_run(argv[3], argv[2], argv[4], argv + 5);
}

static int shepherd_main_action(int argc, char *argv[])
{
    return action_run(argv[2], atoi(argv[4]), argv[5], argv + 6); /* argv[3] names the event to people */
}

static int shepherd_main_stage(int argc, char *argv[])
{
    return stage_errand(argv[2]);
}

static int shepherd_main_pack(int argc, char *argv[])
{
    return ckpt_transfer_pack(shepherd_main_number(argv[2]), shepherd_main_number(argv[3]), argv[4]);
}

static int shepherd_main_unpack(int argc, char *argv[])
{
    return ckpt_transfer_unpack(shepherd_main_number(argv[2]), shepherd_main_number(argv[3]), argv[4]);
}

static int shepherd_main_close(int argc, char *argv[])
{
    return closing_errand(argv[2]);
}

static int shepherd_main_version(int argc, char *argv[])
{
    printf("pbs_version = %s\n", CEDE_VERSION);
    return 0;
}

/* The first argument says what is to be done; argc is then at least `least` and at most `most`. */
static const struct shepherd_main_row {
    const char *word;
    int least, most;
    int (*run)(int argc, char *argv[]);
} shepherd_main_rows[] = {
    {"hold", 3, INT_MAX, shepherd_main_hold},     {"zygote", 5, 5, shepherd_main_zygote},
    {"script", 5, INT_MAX, shepherd_main_script}, {"action", 7, INT_MAX, shepherd_main_action},
    {"stage", 3, 3, shepherd_main_stage},         {"pack", 5, 5, shepherd_main_pack},
    {"unpack", 5, 5, shepherd_main_unpack},       {"close", 3, 3, shepherd_main_close},
    {"--version", 2, 2, shepherd_main_version},
};

int main(int argc, char *argv[])
{
    for (size_t i = 0; argc > 1 && i < sizeof shepherd_main_rows / sizeof shepherd_main_rows[0]; i++) {
        const struct shepherd_main_row *r = &shepherd_main_rows[i];

        if (argc >= r->least && argc <= r->most && strcmp(argv[1], r->word) == 0)
            return r->run(argc, argv);
    }
    fprintf(stderr, "usage: pbs_shepherd hold DIR [FD] | script WHICH DIR FILE ARGS... | close DIR\n"
                    "(started by pbs_mom)\n");
    return EXIT_USAGE;
}
