#ifndef JOIN_FILE_H
#define JOIN_FILE_H
/* A host that joins by itself: PBS_HOME/mom_priv/join_token (PBS_MOM_HOME) holds what "pbs_keys token" has printed, put there by
 * whatever installs the host. The MOM shows it to the server at its start, and removes the file when it has its certificate. */
#include "err.h"

struct home;

/* Call before the certificates are read, with the log open and no loop running: it waits for the server, where the host has no
 * certificate yet. `waiting` is called once before the first wait. 0: joined, or there is no file, or the host can go on with
 * the certificate that it has (the log says what is wrong with the token). -1: no certificate is here and the token is refused or
 * the file is not root's; said in the log too. */
int join_file_use(const struct home *h, void (*waiting)(void *arg), void *arg, struct err *e);

#endif
