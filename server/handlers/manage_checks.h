#ifndef MANAGE_CHECKS_H
#define MANAGE_CHECKS_H
/* What must hold between attributes before a manager's change is done: checks of edit_effect rows. `arg` is the
 * struct parts, `now` the attributes as they would be. */
#include "attr_edit.h"

/* PBSE_UNKQUE: there is no such queue. */
int check_default_queue(void *arg, const struct object *o, const struct attr_list *now, struct err *e);
/* PBSE_INVALID_MAX_JOB_SEQUENCE_ID */
int check_sequence_max(void *arg, const struct object *o, const struct attr_list *now, struct err *e);
/* PBSE_BADJOBSCRIPTMAXSIZE */
int check_script_max(void *arg, const struct object *o, const struct attr_list *now, struct err *e);
/* PBSE_LICENSE_MIN_BADVAL, PBSE_LICENSE_MAX_BADVAL, PBSE_LICENSE_LINGER_BADVAL */
int check_licenses(void *arg, const struct object *o, const struct attr_list *now, struct err *e);
/* PBSE_UNKRESC: restrict_res_to_release_on_suspend names an unknown resource. */
int check_released(void *arg, const struct object *o, const struct attr_list *now, struct err *e);
/* PBSE_MIXENTLIMS: max_running and its like beside max_run and its like. */
int check_server_limits(void *arg, const struct object *o, const struct attr_list *now, struct err *e);
/* PBSE_NEEDQUET open without a type; PBSE_QUENOEN enabled without destinations; PBSE_ATTRTYPE an attribute of the
 * other type of queue; PBSE_ROUTE_QUE_NO_PARTITION, PBSE_DEFAULT_PARTITION; PBSE_MIXENTLIMS;
 * PBSE_INVALID_PARTITION_QUE: its
 * vnodes are of another partition; PBSE_OBJBUSY another type while it has jobs or nodes. */
int check_queue(void *arg, const struct object *o, const struct attr_list *now, struct err *e);
/* Indirect amounts ("@n1"). PBSE_UNKNODE: there is no such node; PBSE_INDIRECTBT it has none of the resource;
 * PBSE_INDIRECTHOP it has it indirectly itself, or others have it by this node; PBSE_BADATVAL it has neither flag n nor h. */
int check_borrowed(void *arg, const struct object *o, const struct attr_list *now, struct err *e);
/* PBSE_UNKQUE, PBSE_ATTRTYPE: its queue is unknown, or a route queue; PBSE_QUE_NOT_IN_PARTITION: queue and partition of
 * the vnode do not agree. */
int check_node_queue(void *arg, const struct object *o, const struct attr_list *now, struct err *e);
/* PBSE_DEFAULT_PARTITION; PBSE_PARTITION_NOT_IN_QUE: as check_node_queue; PBSE_NODE_BUSY: jobs run there, whose scheduler would no longer see
 * it. */
int check_node_partition(void *arg, const struct object *o, const struct attr_list *now, struct err *e);
/* PBSE_SCHED_OP_NOT_PERMITTED of the default scheduler; what another scheduler has:
 * PBSE_SCHED_PARTITION_ALREADY_EXISTS, PBSE_SCHED_PRIV_EXIST, PBSE_SCHED_LOG_EXIST; PBSE_DEFAULT_PARTITION. */
int check_sched_partition(void *arg, const struct object *o, const struct attr_list *now, struct err *e);
int check_sched_priv(void *arg, const struct object *o, const struct attr_list *now, struct err *e);
int check_sched_log(void *arg, const struct object *o, const struct attr_list *now, struct err *e);
/* Call for a scheduler that is being created, with the changes that it is created with: another scheduler has a
 * directory that the new one would have by itself. PBSE_SCHED_PRIV_EXIST, PBSE_SCHED_LOG_EXIST. */
int check_sched_presets(const struct server_ctx *s, const struct object *o, const struct attr_edit_change *c,
                        size_t n, struct err *e);

#endif
