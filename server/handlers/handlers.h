#ifndef HANDLERS_H
#define HANDLERS_H
/* The handlers of all IFL requests: decode, call, answer; nothing else. The rows are in req_table.c. */
struct request;

/* req_stop.c */
void req_delete(void *parts, struct request *r);
void req_delete_list(void *parts, struct request *r);
void req_rerun(void *parts, struct request *r);
/* req_resv.c */
void req_submit_resv(void *parts, struct request *r);
void req_confirm_resv(void *parts, struct request *r);
void req_delete_resv(void *parts, struct request *r);
void req_modify_resv(void *parts, struct request *r);
/* req_hold.c */
void req_hold(void *parts, struct request *r);
void req_release(void *parts, struct request *r);
/* req_run.c */
void req_run(void *parts, struct request *r);
void req_run_async(void *parts, struct request *r);
void req_sched_reply(void *parts, struct request *r);
/* req_signal.c */
void req_signal(void *parts, struct request *r);
void req_message(void *parts, struct request *r);
void req_peek(void *parts, struct request *r);
/* req_alter.c */
void req_modify(void *parts, struct request *r);
void req_order(void *parts, struct request *r);
void req_move(void *parts, struct request *r);
void req_locate(void *parts, struct request *r);
/* req_nodes.c */
void req_release_nodes(void *parts, struct request *r);
/* req_stat.c */
void req_status_job(void *parts, struct request *r);
void req_status_queue(void *parts, struct request *r);
void req_status_server(void *parts, struct request *r);
void req_status_node(void *parts, struct request *r);
void req_status_sched(void *parts, struct request *r);
void req_status_hold(void *parts, struct request *r);
void req_status_resource(void *parts, struct request *r);
void req_status_hook(void *parts, struct request *r);
void req_status_resv(void *parts, struct request *r);
void req_select(void *parts, struct request *r);
void req_selstat(void *parts, struct request *r);
/* req_submit.c */
void req_submit(void *parts, struct request *r);
void req_arrive(void *parts, struct request *r);
void req_script(void *parts, struct request *r);
void req_read_script(void *parts, struct request *r);
void req_commit(void *parts, struct request *r);
/* req_peer.c */
void req_track(void *parts, struct request *r);
void req_regist_dep(void *parts, struct request *r);
/* req_sched.c */
void req_preempt_jobs(void *parts, struct request *r);
void req_preempt_run(void *parts, struct request *r);
void req_delete_hold(void *parts, struct request *r);
void req_register_sched(void *parts, struct request *r);
void req_watch(void *parts, struct request *r);
void req_watch_next(void *parts, struct request *r);
/* req_explain.c */
void req_explain(void *parts, struct request *r);
void req_when(void *parts, struct request *r);
void req_status_counts(void *parts, struct request *r);
void req_sched_counts(void *parts, struct request *r);
void req_explain_reply(void *parts, struct request *r);
/* req_admin.c */
void req_shutdown(void *parts, struct request *r);
/* req_manage.c */
void req_manage(void *parts, struct request *r);

#endif
