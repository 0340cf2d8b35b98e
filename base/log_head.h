#ifndef LOG_HEAD_H
#define LOG_HEAD_H
/* The lines about the daemon and its host at the beginning of each log file. */

struct log_head {
    const char *version; /* of PBS, which programs that read logs compare */
    const char *own;     /* the daemon's own version */
    const char *host;    /* its own short name */
    const char *leaf;    /* PBS_LEAF_NAME; NULL shows N/A, as for the next */
    const char *mom;     /* PBS_MOM_NODE_NAME */
};

/* The lines, each ended by a newline, for struct log_options.head:
 *
 *   pbs_version=VERSION
 *   pbs_build=mach=MACHINE
 *   hostname=HOST;pbs_leaf_name=LEAF;pbs_mom_node_name=MOM
 *   ipv4 interface NAME: ADDRESS      one for each interface that has addresses, then the same with ipv6
 *   cede_version=OWN
 *
 * Addresses are numbers: no resolver is asked. NULL without memory. The caller frees it. */
char *log_head_make(const struct log_head *h);

#endif
