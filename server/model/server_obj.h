#ifndef SERVER_OBJ_H
#define SERVER_OBJ_H
/* The server as an object: its attributes, and the job numbers it gives out. There is one. */
#include <stdbool.h>
#include <stdint.h>

#include "object.h"
#include "states.h"
#include "type_resc.h"

struct server_obj {
    struct object obj;
    int64_t next_seq;      /* the next job's sequence number; stored with the job that takes it */
    bool scheduling_cycle; /* a scheduler is in its cycle */
    bool terminating;
    struct resc_list *assigned; /* server-level resources in use (assign) */
};

extern const struct object_kind server_kind;

struct server_obj *server_obj_create(struct change *c, const char *name);
void server_obj_destroy(struct server_obj *s, struct change *c);

/* Set the next number to 0 if it is beyond max_job_sequence_id. */
void server_obj_bound_seq(struct server_obj *s, struct change *c);
int64_t server_obj_take_seq(struct server_obj *s, struct change *c); /* wraps at max_job_sequence_id */
bool server_obj_history(const struct server_obj *s);                 /* job_history_enable, or closed */
/* Closed: its attributes could not be read from the store. ACLs, lists of managers and limits may be lost, so only root and
 * the server's own user are managers, others submit nothing and see their own jobs only, nothing is scheduled, and history is kept. The attribute `closed` says why; it is stored as others
 * are, and a manager unsets it. */
void server_obj_close(struct server_obj *s, const char *why);
bool server_obj_is_closed(const struct server_obj *s);
enum server_state server_obj_state(const struct server_obj *s); /* of states.h */
/* Restore the fields of a stored row. */
int server_obj_decode(struct server_obj *s, const char *hot_json, struct err *e);

#endif
