#ifndef TALK_HOUSE_H
#define TALK_HOUSE_H
/* A whole pbs_server in this process: what its main.c makes, on a clock that the steps drive, turned step by step.
 *
 * Its home is a directory of the round. house_end ends it in order; house_crash gives the next one the files as they are at that
 * moment, so that what was only to be written at the end is missing. Callers come through its socket, and may be given another
 * identity than the kernel's (house_connect). */
#include <stdbool.h>
#include <stdint.h>

#include "auth.h"
#include "server.h"

struct house {
    char dir[256], home[300];
    struct server *server;
    int64_t now_ns; /* of the clock, while no server is there */
};

/* Who a caller is to be for the server. */
struct house_peer {
    uid_t uid;
    const char *role; /* of a certificate: "mom:n1"; NULL: a local user */
};

/* Files below `dir`, which exists and is empty. Fails by talk_fail, as all here. */
void house_prepare(struct house *h, const char *dir);
void house_start(struct house *h);
void house_end(struct house *h);
void house_crash(struct house *h);

/* One turn of the loop, of at most so long. */
void house_turn(struct house *h, int wait_ms);
bool house_is_quiet(const struct house *h);
void house_advance(struct house *h, int64_t seconds);
int64_t house_now_s(const struct house *h);

/* A connected socket, non-blocking, whose other end the server has accepted and takes for that peer. -1: it was closed again. */
int house_connect(struct house *h, const struct house_peer *who);

/* Bytes that the process has allocated. */
size_t house_allocated(void);

#endif
