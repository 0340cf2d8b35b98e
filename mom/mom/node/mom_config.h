#ifndef MOM_CONFIG_H
#define MOM_CONFIG_H
/* mom_priv/config: directives as rows, and resources, static ("ncpus 8", "mem 16gb") and dynamic
 * ("scratch !/site/free /scratch").
 *
 * Read whole or not at all, at start and at SIGHUP. Directives of PBS that change nothing here are taken and ignored (mom_config.def says which is which).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforce_rules.h"
#include "err.h"
#include "words.h"

struct config_resource {
    char *name, *value;
};

/* name !/script arguments */
struct config_dynamic {
    char *name;
    struct words argv; /* NULL terminated */
};

struct config_usecp {
    char *prefix, *local; /* "host:/from", "/to" */
};

/* What a script of the site does in place of us. */
enum config_event {
    ACTION_TERMINATE,
    ACTION_CHECKPOINT,
    ACTION_CHECKPOINT_ABORT,
    ACTION_RESTART,
    ACTION_COUNT
};

struct config_action {
    int64_t limit_s;   /* 0: none */
    struct words argv; /* script and arguments, macros not replaced; n 0: there is no such action */
};

struct settings;

enum { RESTRICT_EXCEPTIONS_MAX = 10 };

struct config {
    struct settings *lines; /* as they were read */
    unsigned log_mask;
    char *tmpdir, *momname;
    int64_t prologue_s, kill_delay_s, min_check_s, max_check_s, server_lease_s;
    double cput_mult, wall_mult;
    int suspend_signal, resume_signal;
    struct enforce_rules enforce;
    bool attach_allow;
    bool vnode_per_numa_node;
    bool cpuset;      /* bind jobs to processors */
    int64_t pids_max; /* of a job; 0: any number; -1: not said */
    char *devices;    /* that jobs may open, as lines of rules (confine_devices.h); NULL: all */
    struct config_action actions[ACTION_COUNT];
    char *checkpoint_adapter;    /* "app", "criu", "dmtcp", "none": where the site has no action of its own */
    bool actions_ours;           /* ckpt_adapters: those of checkpoint and restart are that adapter's */
    bool actions_ask_program;    /* the same: it saves only programs that save themselves */
    double max_load, ideal_load; /* 0: none; ideal_load is max_load where it is not said */
    bool max_load_suspends;
    struct {
        bool on;
        int64_t idle_s, inuse_s, poll_s;
        struct words devices; /* patterns */
    } kbd;
    bool multinode_requeue; /* $action multinodebusy */
    int64_t multinode_wait_s;
    bool restrict_user;
    bool reject_root_scripts;
    unsigned restrict_maxsysid;
    unsigned restrict_exceptions[RESTRICT_EXCEPTIONS_MAX];
    size_t n_restrict_exceptions;
    char *checkpoint_path; /* or NULL */
    char *jobdir_root;     /* parent of private directories, or NULL: the owner's home */
    bool jobdir_shared;
    bool checkpoint_shared;
    bool restart_becomes_task, restart_background;
    struct config_resource *resources;
    size_t n_resources;
    struct config_dynamic *dynamic;
    size_t n_dynamic;
    int64_t resource_poll_s;
    struct config_usecp *usecp;
    size_t n_usecp;
};

/* A missing file means all defaults. A file that is not its owner's alone to write is refused (EACCES). NULL: e names
 * file, line and what would be right. */
struct config *config_load(const char *path, struct err *e);
/* The same from a text. For tests, which need no file. */
struct config *config_parse(const char *text, const char *name_for_errors, struct err *e);
void config_destroy(struct config *c);

/* A directive that says another thing in `after`, and that only a start takes over; from 0 on, *at goes behind it. NULL: there
 * is none left. */
const char *config_next_fixed(const struct config *before, const struct config *after, size_t *at);

const char *config_resource(const struct config *c, const char *name); /* NULL: not given */

/* Seconds between SIGTERM and SIGKILL: what the server said, or ours where it left that to us (EXEC_GRACE_OF_HOST). */
unsigned config_grace_s(const struct config *c, unsigned said);

#endif
