#ifndef PAM_OPTIONS_H
#define PAM_OPTIONS_H
/* The words behind pam_pbs.so in a file of /etc/pam.d. */
#include <stdbool.h>

struct pam_options {
    bool no_attach;       /* only check */
    bool debug;           /* steps go to syslog */
    bool refuse_root;     /* root needs a job like every user */
    const char *users;    /* "a,b": let through; borrowed, NULL: none */
    const char *groups;   /* members are let through, likewise */
    const char *services; /* act for these only; NULL: for all */
    const char *conf;     /* instead of /etc/pbs.conf; NULL */
};

/* Return the first word that is not an option, or has a bad value, which is then as if it were not there; NULL: all are good. `argv` is
 * borrowed as long as `o`. */
const char *pam_options_parse(struct pam_options *o, int argc, const char *const argv[]);

/* Is `name` one of those in "a,b,c"? NULL is an empty list. */
bool pam_options_has(const char *list, const char *name);

#endif
