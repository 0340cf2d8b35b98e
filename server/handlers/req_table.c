/* The table of requests. See req_table.h.
 *
 * One line a request makes its row and its RPC procedure, so that codec, right, gate and handler always
 * come together. What may be asked by whom is read here first; a handler asks what goes beyond its row's
 * level. Arrive changes something, but asks by itself whether that may be: see submit_serve_arrival. */
#include "req_table.h"

#include <ifl.h>

#include "dispatch.h"
#include "handlers.h"

/* procedure, name in logs, least level, kind, gate, argument, result, handler */
#define REQUESTS(X)                                                                                          \
    X(IFL_SUBMIT, "QueueJob", USER, CHANGES, "queuejob", ifl_submit_args, ifl_submit_result, req_submit)     \
    X(IFL_SCRIPT, "jobscript", USER, CHANGES, NULL, ifl_script_args, ifl_result, req_script)                 \
    X(IFL_READ_SCRIPT, "ReadScript", USER, ASKS, NULL, ifl_script_args, ifl_script_result, req_read_script)  \
    X(IFL_PEEK, "PeekJob", USER, ASKS, NULL, ifl_peek_args, ifl_peek_result, req_peek)                       \
    X(IFL_COMMIT, "Commit", USER, CHANGES, NULL, ifl_job_args, ifl_result, req_commit)                       \
    X(IFL_DELETE, "DeleteJob", USER, CHANGES, NULL, ifl_job_args, ifl_result, req_delete)                    \
    X(IFL_HOLD, "HoldJob", USER, CHANGES, NULL, ifl_job_text_args, ifl_result, req_hold)                     \
    X(IFL_LOCATE, "LocateJob", USER, ASKS, NULL, ifl_job_args, ifl_text_result, req_locate)                  \
    X(IFL_MANAGER, "Manager", USER, CHANGES, "management", ifl_manager_args, ifl_result, req_manage)         \
    X(IFL_MODIFY, "ModifyJob", USER, CHANGES, "modifyjob", ifl_modify_args, ifl_result, req_modify)          \
    X(IFL_MODIFY_ASYNC, "ModifyJob_Async", USER, CHANGES, "modifyjob", ifl_modify_args, ifl_result,          \
      req_modify)                                                                                            \
    X(IFL_MOVE, "MoveJob", USER, CHANGES, "movejob", ifl_job_text_args, ifl_result, req_move)                \
    X(IFL_RELEASE, "ReleaseJob", USER, CHANGES, NULL, ifl_job_text_args, ifl_result, req_release)            \
    X(IFL_RERUN, "Rerun", OPERATOR, CHANGES, NULL, ifl_job_args, ifl_result, req_rerun)                      \
    X(IFL_RUN, "RunJob", OPERATOR, CHANGES, "runjob", ifl_job_text_args, ifl_result, req_run)                \
    X(IFL_RUN_ASYNC, "AsyrunJob", OPERATOR, CHANGES, "runjob", ifl_job_text_args, ifl_result, req_run_async) \
    X(IFL_RUN_ACK, "AsyrunJob_ack", OPERATOR, CHANGES, "runjob", ifl_job_text_args, ifl_result,              \
      req_run_async)                                                                                         \
    X(IFL_ORDER, "OrderJob", USER, CHANGES, NULL, ifl_job_text_args, ifl_result, req_order)                  \
    X(IFL_SELECT, "SelectJobs", USER, LOOKS, NULL, ifl_select_args, ifl_result, req_select)                  \
    X(IFL_SELSTAT, "SelStat", USER, LOOKS, NULL, ifl_select_args, ifl_result, req_selstat)                   \
    X(IFL_SHUTDOWN, "Shutdown", OPERATOR, ASKS, NULL, ifl_shutdown_args, ifl_result, req_shutdown)           \
    X(IFL_MESSAGE, "MessageJob", USER, CHANGES, NULL, ifl_message_args, ifl_result, req_message)             \
    X(IFL_SIGNAL, "SignalJob", USER, CHANGES, NULL, ifl_job_text_args, ifl_result, req_signal)               \
    X(IFL_STATUS_JOB, "StatusJob", USER, LOOKS, NULL, ifl_status_args, ifl_result, req_status_job)           \
    X(IFL_STATUS_QUEUE, "StatusQue", USER, LOOKS, NULL, ifl_status_args, ifl_result, req_status_queue)       \
    X(IFL_STATUS_SERVER, "StatusSvr", USER, LOOKS, NULL, ifl_status_args, ifl_result, req_status_server)     \
    X(IFL_STATUS_NODE, "StatusNode", USER, LOOKS, NULL, ifl_status_args, ifl_result, req_status_node)        \
    X(IFL_STATUS_RESV, "StatusResv", USER, LOOKS, NULL, ifl_status_args, ifl_result, req_status_resv)        \
    X(IFL_SUBMIT_RESV, "SubmitResv", USER, CHANGES, "resvsub", ifl_resv_args, ifl_text_result,               \
      req_submit_resv)                                                                                       \
    X(IFL_DELETE_RESV, "DeleteResv", USER, CHANGES, NULL, ifl_resv_args, ifl_result, req_delete_resv)        \
    X(IFL_CONFIRM_RESV, "ConfirmResv", OPERATOR, CHANGES, NULL, ifl_confirm_resv_args, ifl_result,           \
      req_confirm_resv)                                                                                      \
    X(IFL_MODIFY_RESV, "ModifyResv", USER, CHANGES, "modifyresv", ifl_resv_args, ifl_text_result,            \
      req_modify_resv)                                                                                       \
    X(IFL_STATUS_HOOK, "StatusHook", USER, LOOKS, NULL, ifl_status_args, ifl_result, req_status_hook)        \
    X(IFL_STATUS_SCHED, "StatusSched", USER, LOOKS, NULL, ifl_status_args, ifl_result, req_status_sched)     \
    X(IFL_STATUS_RESOURCE, "StatusRsc", USER, LOOKS, NULL, ifl_status_args, ifl_result, req_status_resource) \
    X(IFL_SCHED_REPLY, "DefSchReply", SCHED, ASKS, NULL, ifl_sched_reply_args, ifl_result, req_sched_reply)  \
    X(IFL_RELEASE_NODES, "RelnodesJob", USER, CHANGES, NULL, ifl_job_text_args, ifl_result,                  \
      req_release_nodes)                                                                                     \
    X(IFL_PREEMPT_JOBS, "PreemptJobs", USER, CHANGES, NULL, ifl_preempt_args, ifl_preempt_result,            \
      req_preempt_jobs)                                                                                      \
    X(IFL_REGISTER_SCHED, "RegisterSched", USER, ASKS, NULL, ifl_register_args, ifl_result,                  \
      req_register_sched)                                                                                    \
    X(IFL_DELETE_LIST, "DeleteJobList", USER, CHANGES, NULL, ifl_delete_list_args, ifl_delete_list_result,   \
      req_delete_list)                                                                                       \
    X(IFL_WATCH, "Watch", USER, ASKS, NULL, ifl_watch_args, ifl_watch_result, req_watch)                     \
    X(IFL_WATCH_NEXT, "WatchNext", USER, ASKS, NULL, ifl_next_args, ifl_next_head, req_watch_next)           \
    X(IFL_PREEMPT_RUN, "PreemptRun", USER, CHANGES, "runjob", ifl_preempt_run_args, ifl_result,              \
      req_preempt_run)                                                                                       \
    X(IFL_STATUS_HOLD, "StatusHold", USER, LOOKS, NULL, ifl_status_args, ifl_result, req_status_hold)        \
    X(IFL_ARRIVE, "Arrive", SERVER, ASKS, "queuejob", ifl_arrive_args, ifl_submit_result, req_arrive)        \
    X(IFL_TRACK, "TrackJob", SERVER, ASKS, NULL, ifl_track_args, ifl_track_result, req_track)                \
    X(IFL_REGIST_DEP, "RegistDep", SERVER, CHANGES, NULL, ifl_regist_dep_args, ifl_result, req_regist_dep)   \
    X(IFL_DELETE_HOLD, "DeleteHold", USER, CHANGES, NULL, ifl_job_args, ifl_result, req_delete_hold)         \
    X(IFL_EXPLAIN, "Explain", USER, ASKS, NULL, ifl_job_args, ifl_result, req_explain)                       \
    X(IFL_WHEN, "When", USER, ASKS, NULL, ifl_submit_args, ifl_result, req_when)                             \
    X(IFL_EXPLAIN_REPLY, "ExplainReply", SCHED, ASKS, NULL, ifl_explain_reply_args, ifl_result,              \
      req_explain_reply)                                                                                     \
    X(IFL_STATUS_COUNTS, "StatusCounts", USER, LOOKS, NULL, ifl_counts_args, ifl_result, req_status_counts)  \
    X(IFL_SCHED_COUNTS, "SchedCounts", SCHED, ASKS, NULL, ifl_sched_counts_args, ifl_result, req_sched_counts)

#define ROW(number, label, level, does, hook, in, out, call)                                                 \
    {.proc = number,                                                                                         \
     .name = label,                                                                                          \
     .least = LEVEL_##level,                                                                                 \
     .kind = REQUEST_##does,                                                                                 \
     .gate = hook,                                                                                           \
     .xresult = (xdrproc_t)xdr_##out,                                                                        \
     .result_size = sizeof(out),                                                                             \
     .handler = call},

const struct request_row req_table[] = {REQUESTS(ROW)};
const size_t req_table_count = sizeof req_table / sizeof req_table[0];

#define PROC(number, label, level, does, hook, in, out, call)                                                \
    {.proc = number,                                                                                         \
     .name = label,                                                                                          \
     .xargs = (xdrproc_t)xdr_##in,                                                                           \
     .args_size = sizeof(in),                                                                                \
     .xres = (xdrproc_t)xdr_##out,                                                                           \
     .handler = dispatch_call},

/* Authenticate and Join have a procedure and no row: they come before a user is known whose rights could be asked
 * (request/munge_login.h). */
static const struct rpc_proc procs[] = {{.proc = IFL_AUTHENTICATE,
                                         .name = "Authenticate",
                                         .xargs = (xdrproc_t)xdr_ifl_authenticate_args,
                                         .args_size = sizeof(ifl_authenticate_args),
                                         .xres = (xdrproc_t)xdr_ifl_result,
                                         .handler = dispatch_call},
                                        {.proc = IFL_JOIN,
                                         .name = "Join",
                                         .xargs = (xdrproc_t)xdr_ifl_join_args,
                                         .args_size = sizeof(ifl_join_args),
                                         .xres = (xdrproc_t)xdr_ifl_join_result,
                                         .handler = dispatch_call},
                                        REQUESTS(PROC)};

const struct rpc_program req_program = {.prog = PBS_IFL_PROG,
                                        .vers = PBS_IFL_V1,
                                        .name = "ifl",
                                        .procs = procs,
                                        .n_procs = sizeof procs / sizeof procs[0],
                                        .answered = dispatch_answered};
