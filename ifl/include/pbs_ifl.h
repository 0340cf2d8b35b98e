/* pbs_ifl.h: the batch interface library, libpbs.
 *
 * A program written for another PBS compiles and links unchanged: names, values, order of members and signatures are
 * the same. Calls beyond that interface are in pbs_ext.h.
 *
 * The conversation: pbs_connect() gives a handle c >= 0; calls take it; pbs_disconnect() ends it. Several
 * threads may have calls under way on one handle.
 *
 * Errors: integer calls answer 0 or a PBSE_ number of pbs_error.h, which is in pbs_errno too; pointer calls
 * answer NULL both for an error and for an empty answer: pbs_errno (0 for empty) tells which.
 * pbs_geterrmsg(c) is the server's text. Attributes are checked by the server, which knows more names than
 * an older client; pbs_get_attributes_in_error(c) lists those it refused.
 *
 * Ownership: arguments are borrowed for the call. What a call returns is freed as its comment says.
 * `extend` is NULL or option text.
 */
#ifndef _PBS_IFL_H
#define _PBS_IFL_H

#include <stddef.h>
#include <stdio.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- names of attributes --------------------------------------------------------------------------- */

#define ATTR_a                                  "Execution_Time"
#define ATTR_c                                  "Checkpoint"
#define ATTR_e                                  "Error_Path"
#define ATTR_g                                  "group_list"
#define ATTR_h                                  "Hold_Types"
#define ATTR_j                                  "Join_Path"
#define ATTR_J                                  "array_indices_submitted"
#define ATTR_k                                  "Keep_Files"
#define ATTR_l                                  "Resource_List"
#define ATTR_l_orig                             "Resource_List_orig"
#define ATTR_l_acct                             "Resource_List_acct"
#define ATTR_m                                  "Mail_Points"
#define ATTR_o                                  "Output_Path"
#define ATTR_p                                  "Priority"
#define ATTR_q                                  "destination"
#define ATTR_R                                  "Remove_Files"
#define ATTR_r                                  "Rerunable"
#define ATTR_u                                  "User_List"
#define ATTR_v                                  "Variable_List"
#define ATTR_A                                  "Account_Name"
#define ATTR_M                                  "Mail_Users"
#define ATTR_N                                  "Job_Name"
#define ATTR_S                                  "Shell_Path_List"
#define ATTR_depend                             "depend"
#define ATTR_inter                              "interactive"
#define ATTR_sandbox                            "sandbox"
#define ATTR_stagein                            "stagein"
#define ATTR_stageout                           "stageout"
#define ATTR_resvTag                            "reserve_Tag"
#define ATTR_resv_start                         "reserve_start"
#define ATTR_resv_end                           "reserve_end"
#define ATTR_resv_duration                      "reserve_duration"
#define ATTR_resv_state                         "reserve_state"
#define ATTR_resv_substate                      "reserve_substate"
#define ATTR_resv_job                           "reserve_job"
#define ATTR_auth_u                             "Authorized_Users"
#define ATTR_auth_g                             "Authorized_Groups"
#define ATTR_auth_h                             "Authorized_Hosts"
#define ATTR_cred                               "cred"
#define ATTR_nodemux                            "no_stdio_sockets"
#define ATTR_umask                              "umask"
#define ATTR_block                              "block"
#define ATTR_convert                            "qmove"
#define ATTR_DefaultChunk                       "default_chunk"
#define ATTR_X11_cookie                         "forward_x11_cookie"
#define ATTR_X11_port                           "forward_x11_port"
#define ATTR_GUI                                "gui"
#define ATTR_max_run_subjobs                    "max_run_subjobs"
#define ATTR_resv_standing                      "reserve_standing"
#define ATTR_resv_count                         "reserve_count"
#define ATTR_resv_idx                           "reserve_index"
#define ATTR_resv_rrule                         "reserve_rrule"
#define ATTR_resv_execvnodes                    "reserve_execvnodes"
#define ATTR_resv_timezone                      "reserve_timezone"
#define ATTR_ctime                              "ctime"
#define ATTR_estimated                          "estimated"
#define ATTR_exechost                           "exec_host"
#define ATTR_exechost_acct                      "exec_host_acct"
#define ATTR_exechost_orig                      "exec_host_orig"
#define ATTR_exechost2                          "exec_host2"
#define ATTR_execvnode                          "exec_vnode"
#define ATTR_execvnode_acct                     "exec_vnode_acct"
#define ATTR_execvnode_deallocated              "exec_vnode_deallocated"
#define ATTR_execvnode_orig                     "exec_vnode_orig"
#define ATTR_resv_nodes                         "resv_nodes"
#define ATTR_mtime                              "mtime"
#define ATTR_qtime                              "qtime"
#define ATTR_session                            "session_id"
#define ATTR_jobdir                             "jobdir"
#define ATTR_euser                              "euser"
#define ATTR_egroup                             "egroup"
#define ATTR_project                            "project"
#define ATTR_hashname                           "hashname"
#define ATTR_hopcount                           "hop_count"
#define ATTR_security                           "security"
#define ATTR_sched_hint                         "sched_hint"
#define ATTR_SchedSelect                        "schedselect"
#define ATTR_SchedSelect_orig                   "schedselect_orig"
#define ATTR_substate                           "substate"
#define ATTR_name                               "Job_Name"
#define ATTR_owner                              "Job_Owner"
#define ATTR_used                               "resources_used"
#define ATTR_used_acct                          "resources_used_acct"
#define ATTR_used_update                        "resources_used_update"
#define ATTR_relnodes_on_stageout               "release_nodes_on_stageout"
#define ATTR_tolerate_node_failures             "tolerate_node_failures"
#define ATTR_released                           "resources_released"
#define ATTR_rel_list                           "resource_released_list"
#define ATTR_state                              "job_state"
#define ATTR_queue                              "queue"
#define ATTR_resv                               "resv"
#define ATTR_server                             "server"
#define ATTR_maxrun                             "max_running"
#define ATTR_max_run                            "max_run"
#define ATTR_max_run_res                        "max_run_res"
#define ATTR_max_run_soft                       "max_run_soft"
#define ATTR_max_run_res_soft                   "max_run_res_soft"
#define ATTR_total                              "total_jobs"
#define ATTR_comment                            "comment"
#define ATTR_cookie                             "cookie"
#define ATTR_qrank                              "queue_rank"
#define ATTR_altid                              "alt_id"
#define ATTR_altid2                             "alt_id2"
#define ATTR_acct_id                            "accounting_id"
#define ATTR_array                              "array"
#define ATTR_array_id                           "array_id"
#define ATTR_array_index                        "array_index"
#define ATTR_array_state_count                  "array_state_count"
#define ATTR_array_indices_remaining            "array_indices_remaining"
#define ATTR_etime                              "etime"
#define ATTR_gridname                           "gridname"
#define ATTR_refresh                            "last_context_refresh"
#define ATTR_ReqCredEnable                      "require_cred_enable"
#define ATTR_ReqCred                            "require_cred"
#define ATTR_runcount                           "run_count"
#define ATTR_run_version                        "run_version"
#define ATTR_stime                              "stime"
#define ATTR_obittime                           "obittime"
#define ATTR_executable                         "executable"
#define ATTR_Arglist                            "argument_list"
#define ATTR_version                            "pbs_version"
#define ATTR_eligible_time                      "eligible_time"
#define ATTR_accrue_type                        "accrue_type"
#define ATTR_sample_starttime                   "sample_starttime"
#define ATTR_job_kill_delay                     "job_kill_delay"
#define ATTR_topjob                             "topjob"
#define ATTR_topjob_ineligible                  "topjob_ineligible"
#define ATTR_submit_host                        "Submit_Host"
#define ATTR_cred_id                            "credential_id"
#define ATTR_cred_validity                      "credential_validity"
#define ATTR_history_timestamp                  "history_timestamp"
#define ATTR_create_resv_from_job               "create_resv_from_job"
#define ATTR_stageout_status                    "Stageout_status"
#define ATTR_exit_status                        "Exit_status"
#define ATTR_submit_arguments                   "Submit_arguments"
#define ATTR_resv_name                          "Reserve_Name"
#define ATTR_resv_owner                         "Reserve_Owner"
#define ATTR_resv_Tag                           "reservation_Tag"
#define ATTR_resv_ID                            "reserve_ID"
#define ATTR_resv_retry                         "reserve_retry"
#define ATTR_del_idle_time                      "delete_idle_time"
#define ATTR_aclgren                            "acl_group_enable"
#define ATTR_aclgroup                           "acl_groups"
#define ATTR_aclhten                            "acl_host_enable"
#define ATTR_aclhost                            "acl_hosts"
#define ATTR_aclhostmomsen                      "acl_host_moms_enable"
#define ATTR_acluren                            "acl_user_enable"
#define ATTR_acluser                            "acl_users"
#define ATTR_altrouter                          "alt_router"
#define ATTR_chkptmin                           "checkpoint_min"
#define ATTR_enable                             "enabled"
#define ATTR_fromroute                          "from_route_only"
#define ATTR_HasNodes                           "hasnodes"
#define ATTR_killdelay                          "kill_delay"
#define ATTR_maxgrprun                          "max_group_run"
#define ATTR_maxgrprunsoft                      "max_group_run_soft"
#define ATTR_maxque                             "max_queuable"
#define ATTR_max_queued                         "max_queued"
#define ATTR_max_queued_res                     "max_queued_res"
#define ATTR_queued_jobs_threshold              "queued_jobs_threshold"
#define ATTR_queued_jobs_threshold_res          "queued_jobs_threshold_res"
#define ATTR_maxuserrun                         "max_user_run"
#define ATTR_maxuserrunsoft                     "max_user_run_soft"
#define ATTR_qtype                              "queue_type"
#define ATTR_rescassn                           "resources_assigned"
#define ATTR_rescdflt                           "resources_default"
#define ATTR_rescmax                            "resources_max"
#define ATTR_rescmin                            "resources_min"
#define ATTR_rndzretry                          "rendezvous_retry"
#define ATTR_routedest                          "route_destinations"
#define ATTR_routeheld                          "route_held_jobs"
#define ATTR_routewait                          "route_waiting_jobs"
#define ATTR_routeretry                         "route_retry_time"
#define ATTR_routelife                          "route_lifetime"
#define ATTR_rsvexpdt                           "reserved_expedite"
#define ATTR_rsvsync                            "reserved_sync"
#define ATTR_start                              "started"
#define ATTR_count                              "state_count"
#define ATTR_number                             "number_jobs"
#define ATTR_jobscript_max_size                 "jobscript_max_size"
#define ATTR_maxstarve                          "max_starve"
#define ATTR_maxborrow                          "max_borrow"
#define ATTR_SvrHost                            "server_host"
#define ATTR_aclroot                            "acl_roots"
#define ATTR_managers                           "managers"
#define ATTR_dfltque                            "default_queue"
#define ATTR_defnode                            "default_node"
#define ATTR_locsvrs                            "location_servers"
#define ATTR_logevents                          "log_events"
#define ATTR_logfile                            "log_file"
#define ATTR_mailer                             "mailer"
#define ATTR_mailfrom                           "mail_from"
#define ATTR_nodepack                           "node_pack"
#define ATTR_nodefailrq                         "node_fail_requeue"
#define ATTR_resendtermdelay                    "resend_term_delay"
#define ATTR_operators                          "operators"
#define ATTR_queryother                         "query_other_jobs"
#define ATTR_resccost                           "resources_cost"
#define ATTR_rescavail                          "resources_available"
#define ATTR_maxuserres                         "max_user_res"
#define ATTR_maxuserressoft                     "max_user_res_soft"
#define ATTR_maxgroupres                        "max_group_res"
#define ATTR_maxgroupressoft                    "max_group_res_soft"
#define ATTR_maxarraysize                       "max_array_size"
#define ATTR_PNames                             "pnames"
#define ATTR_schediteration                     "scheduler_iteration"
#define ATTR_scheduling                         "scheduling"
#define ATTR_status                             "server_state"
#define ATTR_syscost                            "system_cost"
#define ATTR_FlatUID                            "flatuid"
#define ATTR_ResvEnable                         "resv_enable"
#define ATTR_aclResvgren                        "acl_resv_group_enable"
#define ATTR_aclResvgroup                       "acl_resv_groups"
#define ATTR_aclResvhten                        "acl_resv_host_enable"
#define ATTR_aclResvhost                        "acl_resv_hosts"
#define ATTR_aclResvuren                        "acl_resv_user_enable"
#define ATTR_aclResvuser                        "acl_resv_users"
#define ATTR_NodeGroupEnable                    "node_group_enable"
#define ATTR_NodeGroupKey                       "node_group_key"
#define ATTR_dfltqdelargs                       "default_qdel_arguments"
#define ATTR_dfltqsubargs                       "default_qsub_arguments"
#define ATTR_rpp_retry                          "rpp_retry"
#define ATTR_rpp_highwater                      "rpp_highwater"
#define ATTR_pbs_license_info                   "pbs_license_info"
#define ATTR_license_min                        "pbs_license_min"
#define ATTR_license_max                        "pbs_license_max"
#define ATTR_license_linger                     "pbs_license_linger_time"
#define ATTR_license_count                      "license_count"
#define ATTR_job_sort_formula                   "job_sort_formula"
#define ATTR_EligibleTimeEnable                 "eligible_time_enable"
#define ATTR_resv_retry_time                    "reserve_retry_time"
#define ATTR_resv_retry_init                    "reserve_retry_init"
#define ATTR_JobHistoryEnable                   "job_history_enable"
#define ATTR_JobHistoryDuration                 "job_history_duration"
#define ATTR_max_concurrent_prov                "max_concurrent_provision"
#define ATTR_resv_post_processing               "resv_post_processing_time"
#define ATTR_backfill_depth                     "backfill_depth"
#define ATTR_clearesten                         "clear_topjob_estimates_enable"
#define ATTR_job_requeue_timeout                "job_requeue_timeout"
#define ATTR_show_hidden_attribs                "show_hidden_attribs"
#define ATTR_python_restart_max_hooks           "python_restart_max_hooks"
#define ATTR_python_restart_max_objects         "python_restart_max_objects"
#define ATTR_python_restart_min_interval        "python_restart_min_interval"
#define ATTR_power_provisioning                 "power_provisioning"
#define ATTR_sync_mom_hookfiles_timeout         "sync_mom_hookfiles_timeout"
#define ATTR_max_job_sequence_id                "max_job_sequence_id"
#define ATTR_has_runjob_hook                    "has_runjob_hook"
#define ATTR_acl_krb_realm_enable               "acl_krb_realm_enable"
#define ATTR_acl_krb_realms                     "acl_krb_realms"
#define ATTR_acl_krb_submit_realms              "acl_krb_submit_realms"
#define ATTR_cred_renew_enable                  "cred_renew_enable"
#define ATTR_cred_renew_tool                    "cred_renew_tool"
#define ATTR_cred_renew_period                  "cred_renew_period"
#define ATTR_cred_renew_cache_period            "cred_renew_cache_period"
#define ATTR_attr_update_period                 "attr_update_period"
#define ATTR_rpp_max_pkt_check                  "rpp_max_pkt_check"
#define ATTR_SchedHost                          "sched_host"
#define ATTR_sched_cycle_len                    "sched_cycle_length"
#define ATTR_do_not_span_psets                  "do_not_span_psets"
#define ATTR_only_explicit_psets                "only_explicit_psets"
#define ATTR_sched_preempt_enforce_resumption   "sched_preempt_enforce_resumption"
#define ATTR_preempt_targets_enable             "preempt_targets_enable"
#define ATTR_job_sort_formula_threshold         "job_sort_formula_threshold"
#define ATTR_throughput_mode                    "throughput_mode"
#define ATTR_opt_backfill_fuzzy                 "opt_backfill_fuzzy"
#define ATTR_partition                          "partition"
#define ATTR_sched_priv                         "sched_priv"
#define ATTR_sched_log                          "sched_log"
#define ATTR_sched_user                         "sched_user"
#define ATTR_sched_state                        "state"
#define ATTR_sched_preempt_queue_prio           "preempt_queue_prio"
#define ATTR_sched_preempt_prio                 "preempt_prio"
#define ATTR_sched_preempt_order                "preempt_order"
#define ATTR_sched_preempt_sort                 "preempt_sort"
#define ATTR_sched_server_dyn_res_alarm         "server_dyn_res_alarm"
#define ATTR_job_run_wait                       "job_run_wait"
#define ATTR_NODE_Host                          "Host"
#define ATTR_NODE_Mom                           "Mom"
#define ATTR_NODE_Port                          "Port"
#define ATTR_NODE_state                         "state"
#define ATTR_NODE_ntype                         "ntype"
#define ATTR_NODE_jobs                          "jobs"
#define ATTR_NODE_resvs                         "resv"
#define ATTR_NODE_resv_enable                   "resv_enable"
#define ATTR_NODE_np                            "np"
#define ATTR_NODE_pcpus                         "pcpus"
#define ATTR_NODE_properties                    "properties"
#define ATTR_NODE_NoMultiNode                   "no_multinode_jobs"
#define ATTR_NODE_No_Tasks                      "no_tasks"
#define ATTR_NODE_Sharing                       "sharing"
#define ATTR_NODE_ProvisionEnable               "provision_enable"
#define ATTR_NODE_current_aoe                   "current_aoe"
#define ATTR_NODE_in_multivnode_host            "in_multivnode_host"
#define ATTR_NODE_License                       "license"
#define ATTR_NODE_LicenseInfo                   "license_info"
#define ATTR_NODE_TopologyInfo                  "topology_info"
#define ATTR_NODE_MaintJobs                     "maintenance_jobs"
#define ATTR_NODE_VnodePool                     "vnode_pool"
#define ATTR_NODE_current_eoe                   "current_eoe"
#define ATTR_NODE_power_provisioning            "power_provisioning"
#define ATTR_NODE_poweroff_eligible             "poweroff_eligible"
#define ATTR_NODE_last_state_change_time        "last_state_change_time"
#define ATTR_NODE_last_used_time                "last_used_time"
#define ATTR_RESC_TYPE                          "type"
#define ATTR_RESC_FLAG                          "flag"
#define ATTR_array_indices_submitted            ATTR_J
#define ATTR_prov_vnode                         "prov_vnode"
#define ATTR_ProvisionEnable                    "provision_enable"
#define ATTR_provision_timeout                  "provision_timeout"
#define ATTR_node_set                           "node_set"
#define ATTR_sched_preempted                    "ptime"
#define ATTR_restrict_res_to_release_on_suspend "restrict_res_to_release_on_suspend"
#define ATTR_resv_alter_revert                  "reserve_alter_revert"
#define ATTR_resv_standing_revert               "reserve_standing_revert"

/* --- letters and words in values ------------------------------------------------------------------- */

#define USER_HOLD              "u"
#define OTHER_HOLD             "o"
#define SYSTEM_HOLD            "s"
#define BAD_PASSWORD_HOLD      "p"
#define NO_HOLD                "n"
#define CHECKPOINT_UNSPECIFIED "u"
#define NO_JOIN                "n"
#define NO_KEEP                "n"
#define MAIL_AT_ABORT          "a"

#define SITE_HOOK "hook" /* extend of the hook requests */
#define PBS_HOOK  "pbshook"

#define FORCE          "force" /* extend of pbs_deljob */
#define NOMAIL         "nomail"
#define SUPPRESS_EMAIL "suppress_email"
#define DELETEHISTORY  "deletehist"

#define SC_DOWN       "down" /* attribute state of a scheduler */
#define SC_IDLE       "idle"
#define SC_SCHEDULING "scheduling"

#define RJ_NONE         "none" /* attribute job_run_wait */
#define RJ_RUNJOB_HOOK  "runjob_hook"
#define RJ_EXECJOB_HOOK "execjob_hook"

#define PBS_RESV_CONFIRM_SUCCESS "PBS_RESV_CONFIRM_SUCCESS" /* extend of pbs_confirmresv */
#define PBS_RESV_CONFIRM_FAIL    "PBS_RESV_CONFIRM_FAIL"

#define SIG_RESUME        "resume" /* signal of pbs_sigjob, beside names and numbers */
#define SIG_SUSPEND       "suspend"
#define SIG_TermJob       "TermJob"
#define SIG_RERUN         "Rerun"
#define SIG_ADMIN_SUSPEND "admin-suspend"
#define SIG_ADMIN_RESUME  "admin-resume"

#define PBS_RESV_ID_CHAR       'R' /* first letter of a reservation's id */
#define PBS_STDNG_RESV_ID_CHAR 'S'
#define PBS_MNTNC_RESV_ID_CHAR 'M'

/* --- sizes: characters without the NUL ------------------------------------------------------------- */

#define PBS_MAXHOSTNAME              255
#define PBS_MAXSERVERNAME            PBS_MAXHOSTNAME
#define PBS_MAXUSER                  256
#define PBS_MAXPWLEN                 256
#define PBS_MAXGRPN                  256
#define PBS_MAXDEST                  256
#define PBS_MAXQUEUENAME             15
#define PBS_MAXQRESVNAME             PBS_MAXQUEUENAME
#define PBS_MAXSCHEDNAME             15
#define PBS_MAXJOBNAME               230
#define PBS_MAXSEQNUM                12
#define PBS_MAXPORTNUM               5
#define PBS_MAXIP_LEN                15
#define MSVR_JID_NCHARS_SVR          2
#define PBS_DFLT_MAX_JOB_SEQUENCE_ID 9999999
#define PBS_MAXSVRJOBID              (PBS_MAXSEQNUM + MSVR_JID_NCHARS_SVR - 1 + PBS_MAXSERVERNAME + PBS_MAXPORTNUM + 2)
#define PBS_MAXSVRRESVID             (PBS_MAXSVRJOBID + 1)
#define PBS_MAXCLTJOBID              (PBS_MAXSVRJOBID + PBS_MAXSERVERNAME + PBS_MAXPORTNUM + 2)
#define PBS_MAXROUTEDEST             (PBS_MAXQUEUENAME + PBS_MAXSERVERNAME + PBS_MAXPORTNUM + 2)
#define MAX_SVR_ID                   (PBS_MAXSERVERNAME + PBS_MAXPORTNUM + 1)
#define PBS_AUTH_KEY_LEN             129
#define PBS_INTERACTIVE              1
#define PBS_TERM_BUF_SZ              80
#define PBS_TERM_CCA                 6

/* --- numbers in calls ------------------------------------------------------------------------------ */

#define SHUT_IMMEDIATE      0 /* pbs_terminate: how; one of these, or-ed with whom else */
#define SHUT_DELAY          1
#define SHUT_QUICK          2
#define SHUT_WHO_SCHED      0x10
#define SHUT_WHO_MOM        0x20
#define SHUT_WHO_SECDRY     0x40
#define SHUT_WHO_IDLESECDRY 0x80
#define SHUT_WHO_SECDONLY   0x100

#define MSG_OUT 1 /* pbs_msgjob: into which file */
#define MSG_ERR 2

enum batch_op { SET, UNSET, INCR, DECR, EQ, NE, GE, GT, LE, LT, DFLT, INTERNAL };

enum mgr_cmd {
    MGR_CMD_NONE = -1,
    MGR_CMD_CREATE,
    MGR_CMD_DELETE,
    MGR_CMD_SET,
    MGR_CMD_UNSET,
    MGR_CMD_LIST,
    MGR_CMD_PRINT,
    MGR_CMD_ACTIVE,
    MGR_CMD_IMPORT,
    MGR_CMD_EXPORT,
    MGR_CMD_LAST
};

enum mgr_obj {
    MGR_OBJ_NONE = -1,
    MGR_OBJ_SERVER,
    MGR_OBJ_QUEUE,
    MGR_OBJ_JOB,
    MGR_OBJ_NODE,
    MGR_OBJ_RESV,
    MGR_OBJ_RSC,
    MGR_OBJ_SCHED,
    MGR_OBJ_HOST,
    MGR_OBJ_HOOK,
    MGR_OBJ_PBS_HOOK,
    MGR_OBJ_JOBARRAY_PARENT,
    MGR_OBJ_SUBJOB,
    MGR_OBJ_LAST
};
#define MGR_OBJ_SITE_HOOK MGR_OBJ_HOOK

enum preempt_method {
    PREEMPT_METHOD_LOW,
    PREEMPT_METHOD_SUSPEND,
    PREEMPT_METHOD_CHECKPOINT,
    PREEMPT_METHOD_REQUEUE,
    PREEMPT_METHOD_DELETE,
    PREEMPT_METHOD_HIGH
};

enum resv_states {
    RESV_NONE,
    RESV_UNCONFIRMED,
    RESV_CONFIRMED,
    RESV_WAIT,
    RESV_TIME_TO_RUN,
    RESV_RUNNING,
    RESV_FINISHED,
    RESV_BEING_DELETED,
    RESV_DELETED,
    RESV_DELETING_JOBS,
    RESV_DEGRADED,
    RESV_BEING_ALTERED,
    RESV_IN_CONFLICT
};

/* --- types: the order of members is part of the interface ------------------------------------------ */

struct attrl { /* same layout as attropl; op is not looked at */
    struct attrl *next;
    char *name;
    char *resource; /* NULL, or the part after the dot */
    char *value;
    enum batch_op op;
};

/* One attribute of a request, or one condition of a selection: `op` is SET, UNSET, INCR, DECR, or EQ to LT. */
struct attropl {
    struct attropl *next;
    char *name;
    char *resource;
    char *value;
    enum batch_op op;
};

/* One object of an answer; pbs_statfree frees the list. */
struct batch_status {
    struct batch_status *next;
    char *name;
    struct attrl *attribs;
    char *text;
};

/* A job that was not deleted; code is why, a PBSE_ number. */
struct batch_deljob_status {
    struct batch_deljob_status *next;
    char *name;
    int code;
};

/* One attribute that was refused, with its own error. */
struct ecl_attrerr {
    struct attropl *ecl_attribute;
    int ecl_errcode;
    char *ecl_errmsg;
};

struct ecl_attribute_errors {
    int ecl_numerrors;
    struct ecl_attrerr *ecl_attrerr;
};

typedef struct preempt_job_info {
    char job_id[PBS_MAXSVRJOBID + 1];
    char order[PREEMPT_METHOD_HIGH + 1]; /* "000" failed, else begins with the letter that worked */
} preempt_job_info;

typedef int pbs_resource_t;
#define RESOURCE_T_NULL 0
#define RESOURCE_T_ALL  (-1)

/* --- the thread's own error and server ------------------------------------------------------------- */

#ifndef pbs_errno
extern int *__pbs_errno_location(void);
#define pbs_errno (*__pbs_errno_location())
#endif
extern char *__pbs_server_location(void);
#define pbs_server (__pbs_server_location())

/* --- connections ----------------------------------------------------------------------------------- */

extern int pbs_connect(const char *server); /* "host[:port]"; NULL or "": the default one; -1: error */
/* The same: extend_data is not looked at. */
extern int pbs_connect_extend(const char *server, const char *extend_data);
/* Close the handle. Calls of other threads that are under way on it fail. 0, and pbs_errno is as it was, since it may be the
 * reason to disconnect; -1, PBSE_NOCONNECTS: not a handle. */
extern int pbs_disconnect(int c);
extern char *pbs_default(void); /* static; NULL: none */
/* The text of this thread's last error on the handle, and the attributes that the server refused in it. Both live until the
 * thread's next call on the handle, and are not to be freed. NULL: there is nothing to say. */
extern char *pbs_geterrmsg(int c);
extern struct ecl_attribute_errors *pbs_get_attributes_in_error(int c);
/* Read pbs.conf and the environment, if that has not been done yet or `reload` is not 0; other calls do so themselves. 1: done, 0:
 * failed, and what was read before holds. */
extern int pbs_loadconf(int reload);
extern int pbs_geterrno(void);              /* pbs_errno, for languages that cannot use the macro */
extern int pbs_query_max_connections(void); /* handles that a process may have at once */
/* For old programs: connections never delay. 0; -1: not a handle. */
extern int pbs_connection_set_nodelay(int c);

/* --- jobs ------------------------------------------------------------------------------------------
 *
 * A call returns when the server has stored the change, unless its comment says that it waits for hosts. No call has a time limit
 * of its own: a request may be parked, and only the loss of the connection ends it (PBSE_PROTOCOL). Then the server may have done
 * what was asked; all but pbs_submit leave it to the program to ask again.
 *
 * Errors that every call of a job may have: PBSE_UNKJOBID there is no such job, PBSE_IVALREQ it cannot be read as an identifier, PBSE_PERM it is
 * not for this user, PBSE_HISTJOBID it has finished, PBSE_BADSTATE not in the state that it is in. */

/* Make a job with these attributes (`op` is not looked at). The file `script` is read here, NULL: there is none; directives in
 * it are the caller's to turn into attributes. destination: a queue, NULL: the default one. When the connection is lost before the
 * answer, the call connects again and asks with the same token, so that a job is made once. NULL: pbs_errno. */
extern char *pbs_submit(int c, struct attropl *attrib, const char *script, const char *destination,
                        const char *extend); /* the id, to be freed */
/* Set attributes; an empty value unsets one. All are checked before one changes. PBSE_MODATRRUN: not while the job runs. */
extern int pbs_alterjob(int c, const char *jobid, struct attrl *attrib, const char *extend);
/* The same, sent only: 0 means that it has left, and its answer is thrown away when it comes. */
extern int pbs_asyalterjob(int c, const char *jobid, struct attrl *attrib, const char *extend);
/* Delete a job. The call returns when that is stored: a job that waits is gone then, one that runs gets SIGTERM, after its queue's
 * kill_delay SIGKILL, and is gone when its host says so. extend: FORCE (do not wait for the host), NOMAIL, ..., joined by + or a
 * comma. PBSE_NORELYMOM: a host is away; the order is kept, and obeyed when it is back. */
extern int pbs_deljob(int c, const char *jobid, const char *extend);
/* The same for numjids jobs in as few requests as they fit in. Those that were not deleted, each with its error, for
 * pbs_delstatfree; NULL with pbs_errno 0: all were. One that is NULL: PBSE_IVALREQ, and none is deleted. */
extern struct batch_deljob_status *pbs_deljoblist(int c, char **jobids, int numjids, const char *extend);
extern void pbs_delstatfree(struct batch_deljob_status *list);
/* hold_type: letters, USER_HOLD, OTHER_HOLD, SYSTEM_HOLD; NULL or "" is USER_HOLD. A job runs when it has no hold left. */
extern int pbs_holdjob(int c, const char *jobid, const char *hold_type, const char *extend);
extern int pbs_rlsjob(int c, const char *jobid, const char *hold_type, const char *extend);
extern char *pbs_locjob(int c, const char *jobid,
                        const char *extend); /* the server that has it, to be freed */
/* Into another queue, of this server or another. Not while it runs. */
extern int pbs_movejob(int c, const char *jobid, const char *destination, const char *extend);
/* Write msg into the job's output files: fileopt is MSG_OUT, MSG_ERR or both; 0 is MSG_ERR. */
extern int pbs_msgjob(int c, const char *jobid, int fileopt, const char *msg, const char *extend);
/* Exchange the places of two jobs that wait. */
extern int pbs_orderjob(int c, const char *job1, const char *job2, const char *extend);
/* A running job gives back vnodes, "n3+n4"; NULL or "": all but those of its first host. */
extern int pbs_relnodesjob(int c, const char *jobid, const char *node_list, const char *extend);
/* End the run as pbs_deljob does, and put the job back into its queue; returns when its last host has ended it. extend "force": does
 * not wait for hosts. PBSE_NORERUN: the job's Rerunable is False. */
extern int pbs_rerunjob(int c, const char *jobid, const char *extend);
/* Start a job on the vnodes of location, an exec_vnode; NULL or "": the scheduler is asked for a place. pbs_runjob returns when the
 * job has started on its hosts, or could not; the other two when the start is stored. PBSE_RESCUNAV: something is not free (any more),
 * and nothing has changed; PBSE_NOSCHEDULER: there is none to ask. */
extern int pbs_runjob(int c, const char *jobid, const char *location, const char *extend);
extern int pbs_asyrunjob(int c, const char *jobid, const char *location, const char *extend);
extern int pbs_asyrunjob_ack(int c, const char *jobid, const char *location, const char *extend);
/* A signal's name, with or without SIG, its number, or one of the SIG_ words above. PBSE_UNKSIG; PBSE_NORELYMOM: a host is away, or
 * has not answered in 120 s. */
extern int pbs_sigjob(int c, const char *jobid, const char *signal, const char *extend);
/* PBSE_NOSUP, both. */
extern int pbs_stagein(int c, const char *jobid, const char *location, const char *extend);
extern int pbs_py_spawn(int c, char *jobid, char **argv, char **envp);
/* 1: the text begins as an identifier of a job does, and not as a queue's name; no server is asked. 0: it does not. */
extern int pbs_isjobid(const char *text);

/* --- questions: free with pbs_statfree; pbs_selectjob with one free() ------------------------------
 *
 * The object that is named, or all of the kind where the name is NULL or "". `out` names the attributes that are wanted, and only
 * those travel; NULL: all that the caller may read. A list with pbs_errno 1: of several names some are unknown, and the first of them
 * is in the text. A list with another pbs_errno: the answer broke off, and this is what had come. */

/* Jobs for which all criteria hold: their identifiers, with NULL at the end; or (pbs_selstat) their attributes. */
extern char **pbs_selectjob(int c, struct attropl *criteria, const char *extend);
extern struct batch_status *pbs_selstat(int c, struct attropl *criteria, struct attrl *out,
                                        const char *extend);
/* id: an identifier, several with commas between them, or a queue. Letters of extend: x finished jobs too, t subjobs too. */
extern struct batch_status *pbs_statjob(int c, const char *id, struct attrl *out, const char *extend);
extern struct batch_status *pbs_statque(int c, const char *queue, struct attrl *out, const char *extend);
extern struct batch_status *pbs_statserver(int c, struct attrl *out, const char *extend);
extern struct batch_status *pbs_statsched(int c, struct attrl *out, const char *extend);
/* Hosts (pbs_statnode is an older name of pbs_stathost): the vnodes of a host are one entry, with amounts summed and "<various>" where
 * other values differ. pbs_statvnode shows them as they are. */
extern struct batch_status *pbs_statnode(int c, const char *host, struct attrl *out, const char *extend);
extern struct batch_status *pbs_stathost(int c, const char *host, struct attrl *out, const char *extend);
extern struct batch_status *pbs_statvnode(int c, const char *vnode, struct attrl *out, const char *extend);
extern struct batch_status *pbs_statresv(int c, const char *resv, struct attrl *out, const char *extend);
extern struct batch_status *pbs_statrsc(int c, const char *resc, struct attrl *out, const char *extend);
extern struct batch_status *pbs_stathook(int c, const char *hook, struct attrl *out, const char *extend);
extern void pbs_statfree(struct batch_status *list);

/* --- reservations ----------------------------------------------------------------------------------
 *
 * Times in attributes are seconds since 1970, in decimal. With the attribute `interactive` the first two return when a scheduler has
 * decided, or when that many seconds are over. They answer the identifier and a word: "R5.svr1 UNCONFIRMED". */

extern char *pbs_submit_resv(int c, struct attropl *attrib, const char *extend); /* to be freed */
extern char *pbs_modify_resv(int c, const char *resvid, struct attropl *attrib, const char *extend);
/* Its queue and its jobs are deleted with it. */
extern int pbs_delresv(int c, const char *resvid, const char *extend);
/* For schedulers, operators, managers: the place that was found (location, an exec_vnode), and the start, 0: as asked. extend says
 * which of the two it is: PBS_RESV_CONFIRM_SUCCESS, PBS_RESV_CONFIRM_FAIL; pbs_submit_resv(3) has what may follow it. */
extern int pbs_confirmresv(int c, const char *resvid, const char *location, unsigned long start,
                           const char *extend);

/* --- administration -------------------------------------------------------------------------------- */
/* command: CREATE, DELETE, SET, UNSET (and IMPORT, EXPORT of hooks); objname is "" for the server; of queues, vnodes and schedulers "" and
 * "@default" are all there are, also for DELETE. All of a request is checked before one attribute changes. */

extern int pbs_manager(int c, int command, int objtype, const char *objname, struct attropl *attrib,
                       const char *extend);
/* End the server. Jobs run on after SHUT_QUICK. */
extern int pbs_terminate(int c, int manner, const char *extend);

/* --- for schedulers -------------------------------------------------------------------------------- */

/* Answers when every job has given way: one entry a job, in the order of jobids (NULL terminated). One free(). */
extern preempt_job_info *pbs_preempt_jobs(int c, char **jobids);
/* Make the connections those of a sched object (NULL: "default"). The primary one has the name until it is closed: PBSE_SCHEDCONNECTED,
 * another one has it. The secondary one is for orders; it may be the same, or -1. */
extern int pbs_register_sched(const char *sched_id, int primary_conn, int secondary_conn);
/* The older form of pbs_sched_reply (pbs_ext.h): what has become of a job that a client has asked to be run. */
extern int pbs_defschreply(int c, int cmd, char *id, int err, char *txt, char *extend);

/* --- old calls, kept for the linker: PBSE_NOSUP ---------------------------------------------------- */

extern int pbs_rescquery(int c, char **list, int n, int *avail, int *alloc, int *resv, int *down);
extern int pbs_rescreserve(int c, char **list, int n, pbs_resource_t *id);
extern int pbs_rescrelease(int c, pbs_resource_t id);

#include "pbs_pfn.h"

#ifdef __cplusplus
}
#endif
#endif /* _PBS_IFL_H */
