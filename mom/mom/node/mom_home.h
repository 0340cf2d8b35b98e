#ifndef MOM_HOME_H
#define MOM_HOME_H
/* Where things are on this host, and who this MOM is: found once at start, read by all parts.
 *
 * `config` and `vnodes` alone change, together, when SIGHUP brings a good new file.
 */
#include <stdbool.h>
#include <sys/resource.h>

#include "confine.h"
#include "cpus.h"
#include "err.h"
#include "words.h"

struct conf;
struct config;

struct home {
    const struct conf *conf; /* borrowed */
    struct config *config;   /* owned */
    struct vnodes *vnodes;   /* owned: what the files in vnode_dir say */
    char *node;              /* our natural vnode */
    char *service;           /* "mom:<node>" */
    char *host;              /* of the machine */
    char boot[64];
    char numbers[64]; /* whose numbers processes have: procs_numbers_id */
    char *priv, *jobs, *spool, *undelivered, *aux, *logs, *certs; /* directories */
    char *checkpoint;                                             /* of images: ours, 0711 */
    const char *checkpoint_from;                                  /* "checkpoint path from config file" */
    char *terminal;                                               /* libexec/pbs_terminal */
    char *shepherd;                                               /* the program */
    char *lock, *config_file, *vnode_dir;
    struct words environment; /* pbs_environment: NAME=value */
    struct confine_place freezer;
    struct cpus cpus;
    int query_s;              /* time limit of a script of a dynamic resource */
    uint64_t pids_max;        /* of a job, where the site says nothing */
    struct rlimit job_files;  /* RLIMIT_NOFILE as we found it: jobs get it back */
    const char *our_names[4]; /* for delivery; NULL terminated */
};

/* Where vnode definition files lie; heap. */
char *home_vnode_dir(const struct conf *conf);

/* Said on the command line; NULL, 0: nothing. Borrowed for life. */
struct home_options {
    const char *config;     /* instead of mom_priv/config; relative to mom_priv. It must be there */
    const char *checkpoint; /* directory of images */
    int query_s;            /* time limit of a script of a dynamic resource */
};

/* Find everything and make missing directories. -1: nothing is left open. */
int home_open(struct home *h, const struct conf *conf, const struct home_options *o, struct err *e);
/* Only read the config and vnode files, as home_open would: nothing is made. -1: what is wrong with them. */
int home_check(const struct conf *conf, const struct home_options *o, struct err *e);
/* Read the config and what follows from it (names). Also at SIGHUP: on failure the old one stays. */
int home_load_config(struct home *h, struct err *e);
/* Take as many descriptors as we may: each running job needs two. */
int home_raise_limits(struct home *h, struct err *e);
/* Where numbers of processes mean something, as records of a run say it: "BOOT NUMBERS". Owned by the caller; NULL: no memory. */
char *home_epoch_of_pids(const struct home *h);
/* Does a record say this boot, and do its numbers of processes mean here what they meant there? A record of an older version has no
 * word of them: they do not. */
bool home_is_this_boot(const struct home *h, const char *record);
bool home_has_those_pids(const struct home *h, const char *record);
void home_close(struct home *h);

#endif
