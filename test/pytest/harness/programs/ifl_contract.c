/* The public C API as a program written for PBS sees it: types whose members are in PBS's order, constants, and every
 * function with its exact type. Most of it is checked while it is compiled; run, it prints what it finds otherwise than
 * expected, and nothing where all is well. */
#include <pbs_error.h>
#include <pbs_ifl.h>
#include <rm.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <tm.h>

#define IS(constant, value) _Static_assert((constant) == (value), #constant)
#define AFTER(type, first, second)                                                                           \
    _Static_assert(offsetof(type, first) < offsetof(type, second), #type ": " #first " before " #second)

AFTER(struct attrl, next, name);
AFTER(struct attrl, name, resource);
AFTER(struct attrl, resource, value);
AFTER(struct attrl, value, op);
AFTER(struct attropl, next, name);
AFTER(struct attropl, name, resource);
AFTER(struct attropl, resource, value);
AFTER(struct attropl, value, op);
_Static_assert(sizeof(struct attrl) == sizeof(struct attropl), "the same layout");
AFTER(struct batch_status, next, name);
AFTER(struct batch_status, name, attribs);
AFTER(struct batch_status, attribs, text);
AFTER(struct batch_deljob_status, next, name);
AFTER(struct batch_deljob_status, name, code);
AFTER(struct ecl_attrerr, ecl_attribute, ecl_errcode);
AFTER(struct ecl_attrerr, ecl_errcode, ecl_errmsg);
AFTER(struct ecl_attribute_errors, ecl_numerrors, ecl_attrerr);
AFTER(preempt_job_info, job_id, order);
_Static_assert(sizeof(((preempt_job_info *)0)->job_id) == PBS_MAXSVRJOBID + 1, "job_id");
_Static_assert(sizeof(((preempt_job_info *)0)->order) == PREEMPT_METHOD_HIGH + 1, "order");

IS(SET, 0);
IS(UNSET, 1);
IS(INCR, 2);
IS(DECR, 3);
IS(EQ, 4);
IS(NE, 5);
IS(GE, 6);
IS(GT, 7);
IS(LE, 8);
IS(LT, 9);
IS(DFLT, 10);
IS(INTERNAL, 11);
IS(MGR_CMD_NONE, -1);
IS(MGR_CMD_CREATE, 0);
IS(MGR_CMD_DELETE, 1);
IS(MGR_CMD_SET, 2);
IS(MGR_CMD_UNSET, 3);
IS(MGR_CMD_LIST, 4);
IS(MGR_CMD_PRINT, 5);
IS(MGR_CMD_ACTIVE, 6);
IS(MGR_CMD_IMPORT, 7);
IS(MGR_CMD_EXPORT, 8);
IS(MGR_CMD_LAST, 9);
IS(MGR_OBJ_NONE, -1);
IS(MGR_OBJ_SERVER, 0);
IS(MGR_OBJ_QUEUE, 1);
IS(MGR_OBJ_JOB, 2);
IS(MGR_OBJ_NODE, 3);
IS(MGR_OBJ_RESV, 4);
IS(MGR_OBJ_RSC, 5);
IS(MGR_OBJ_SCHED, 6);
IS(MGR_OBJ_HOST, 7);
IS(MGR_OBJ_HOOK, 8);
IS(MGR_OBJ_SITE_HOOK, 8);
IS(MGR_OBJ_PBS_HOOK, 9);
IS(MGR_OBJ_JOBARRAY_PARENT, 10);
IS(MGR_OBJ_SUBJOB, 11);
IS(MGR_OBJ_LAST, 12);
IS(PREEMPT_METHOD_LOW, 0);
IS(PREEMPT_METHOD_SUSPEND, 1);
IS(PREEMPT_METHOD_CHECKPOINT, 2);
IS(PREEMPT_METHOD_REQUEUE, 3);
IS(PREEMPT_METHOD_DELETE, 4);
IS(PREEMPT_METHOD_HIGH, 5);
IS(RESV_NONE, 0);
IS(RESV_UNCONFIRMED, 1);
IS(RESV_CONFIRMED, 2);
IS(RESV_WAIT, 3);
IS(RESV_TIME_TO_RUN, 4);
IS(RESV_RUNNING, 5);
IS(RESV_FINISHED, 6);
IS(RESV_BEING_DELETED, 7);
IS(RESV_DELETED, 8);
IS(RESV_DELETING_JOBS, 9);
IS(RESV_DEGRADED, 10);
IS(RESV_BEING_ALTERED, 11);
IS(RESV_IN_CONFLICT, 12);
IS(PBS_MAXHOSTNAME, 255);
IS(PBS_MAXSERVERNAME, 255);
IS(PBS_MAXUSER, 256);
IS(PBS_MAXPWLEN, 256);
IS(PBS_MAXGRPN, 256);
IS(PBS_MAXDEST, 256);
IS(PBS_MAXQUEUENAME, 15);
IS(PBS_MAXQRESVNAME, 15);
IS(PBS_MAXSCHEDNAME, 15);
IS(PBS_MAXJOBNAME, 230);
IS(PBS_MAXSVRJOBID, 275);
IS(PBS_MAXSVRRESVID, 276);
IS(PBS_MAXCLTJOBID, 537);
IS(PBS_MAXROUTEDEST, 277);
IS(MAX_SVR_ID, 261);
IS(PBS_MAXSEQNUM, 12);
IS(PBS_DFLT_MAX_JOB_SEQUENCE_ID, 9999999);
IS(PBS_MAXPORTNUM, 5);
IS(MSVR_JID_NCHARS_SVR, 2);
IS(PBS_AUTH_KEY_LEN, 129);
IS(PBS_INTERACTIVE, 1);
IS(PBS_TERM_BUF_SZ, 80);
IS(PBS_TERM_CCA, 6);
IS(PBS_RESV_ID_CHAR, 'R');
IS(PBS_STDNG_RESV_ID_CHAR, 'S');
IS(PBS_MNTNC_RESV_ID_CHAR, 'M');
IS(PBS_MAXIP_LEN, 15);
IS(SHUT_IMMEDIATE, 0);
IS(SHUT_DELAY, 1);
IS(SHUT_QUICK, 2);
IS(MSG_OUT, 1);
IS(MSG_ERR, 2);
IS(RESOURCE_T_NULL, 0);
IS(RESOURCE_T_ALL, -1);
IS(PBSE_UNKJOBID, 15001);
IS(PBSE_NOATTR, 15002);
IS(PBSE_IVALREQ, 15004);
IS(PBSE_PERM, 15007);
IS(PBSE_BADATVAL, 15014);
IS(PBSE_BADSTATE, 15016);
IS(PBSE_UNKQUE, 15018);
IS(PBSE_RESCUNAV, 15044);
IS(PBSE_MAXQUED, 15046);
IS(PBSE_HISTJOBID, 15139);
IS(PBSE_NOTARRAY_ATTR, 15231);
IS(RM_ERR_UNKNOWN, 15201);
IS(RM_ERR_BADPARAM, 15202);
IS(RM_ERR_NOPARAM, 15203);
IS(RM_ERR_EXIST, 15204);
IS(RM_ERR_SYSTEM, 15205);
IS(TM_SUCCESS, 0);
IS(TM_ESYSTEM, 17000);
IS(TM_ENOTIMPLEMENTED, 17004);
IS(TM_EHOOK, 17012);
IS(TM_NULL_EVENT, 0);
IS(TM_ERROR_EVENT, -1);
IS(TM_NULL_TASK, 0);
IS(TM_INIT_TASK, 1);
IS(TM_ERROR_NODE, -1);
IS(TM_INIT, 100);
IS(TM_ATTACH, 113);
IS(TM_OKAY, 0);
IS(TM_ERROR, 999);

#define HAS(result, name, ...) static result (*const has_##name)(__VA_ARGS__) __attribute__((unused)) = name
typedef struct batch_status *status;

HAS(int, pbs_connect, const char *);
HAS(int, pbs_connect_extend, const char *, const char *);
HAS(int, pbs_disconnect, int);
HAS(char *, pbs_default, void);
HAS(char *, pbs_geterrmsg, int);
HAS(struct ecl_attribute_errors *, pbs_get_attributes_in_error, int);
HAS(int, pbs_loadconf, int);
HAS(char *, pbs_submit, int, struct attropl *, const char *, const char *, const char *);
HAS(int, pbs_alterjob, int, const char *, struct attrl *, const char *);
HAS(int, pbs_asyalterjob, int, const char *, struct attrl *, const char *);
HAS(int, pbs_deljob, int, const char *, const char *);
HAS(struct batch_deljob_status *, pbs_deljoblist, int, char **, int, const char *);
HAS(void, pbs_delstatfree, struct batch_deljob_status *);
HAS(int, pbs_holdjob, int, const char *, const char *, const char *);
HAS(int, pbs_rlsjob, int, const char *, const char *, const char *);
HAS(char *, pbs_locjob, int, const char *, const char *);
HAS(int, pbs_manager, int, int, int, const char *, struct attropl *, const char *);
HAS(int, pbs_movejob, int, const char *, const char *, const char *);
HAS(int, pbs_msgjob, int, const char *, int, const char *, const char *);
HAS(int, pbs_orderjob, int, const char *, const char *, const char *);
HAS(int, pbs_relnodesjob, int, const char *, const char *, const char *);
HAS(int, pbs_rerunjob, int, const char *, const char *);
HAS(int, pbs_runjob, int, const char *, const char *, const char *);
HAS(int, pbs_asyrunjob, int, const char *, const char *, const char *);
HAS(int, pbs_asyrunjob_ack, int, const char *, const char *, const char *);
HAS(char **, pbs_selectjob, int, struct attropl *, const char *);
HAS(status, pbs_selstat, int, struct attropl *, struct attrl *, const char *);
HAS(int, pbs_sigjob, int, const char *, const char *, const char *);
HAS(void, pbs_statfree, struct batch_status *);
HAS(status, pbs_statjob, int, const char *, struct attrl *, const char *);
HAS(status, pbs_statque, int, const char *, struct attrl *, const char *);
HAS(status, pbs_statserver, int, struct attrl *, const char *);
HAS(status, pbs_statsched, int, struct attrl *, const char *);
HAS(status, pbs_statnode, int, const char *, struct attrl *, const char *);
HAS(status, pbs_stathost, int, const char *, struct attrl *, const char *);
HAS(status, pbs_statvnode, int, const char *, struct attrl *, const char *);
HAS(status, pbs_statresv, int, const char *, struct attrl *, const char *);
HAS(status, pbs_statrsc, int, const char *, struct attrl *, const char *);
HAS(status, pbs_stathook, int, const char *, struct attrl *, const char *);
HAS(char *, pbs_submit_resv, int, struct attropl *, const char *);
HAS(char *, pbs_modify_resv, int, const char *, struct attropl *, const char *);
HAS(int, pbs_delresv, int, const char *, const char *);
HAS(int, pbs_confirmresv, int, const char *, const char *, unsigned long, const char *);
HAS(int, pbs_terminate, int, int, const char *);
HAS(preempt_job_info *, pbs_preempt_jobs, int, char **);
HAS(int, pbs_rescquery, int, char **, int, int *, int *, int *, int *);
HAS(int, pbs_rescreserve, int, char **, int, pbs_resource_t *);
HAS(int, pbs_rescrelease, int, pbs_resource_t);
HAS(int, pbs_stagein, int, const char *, const char *, const char *);

HAS(int, tm_init, void *, struct tm_roots *);
HAS(int, tm_nodeinfo, tm_node_id **, int *);
HAS(int, tm_poll, tm_event_t, tm_event_t *, int, int *);
HAS(int, tm_notify, int);
HAS(int, tm_spawn, int, char **, char **, tm_node_id, tm_task_id *, tm_event_t *);
HAS(int, tm_kill, tm_task_id, int, tm_event_t *);
HAS(int, tm_obit, tm_task_id, int *, tm_event_t *);
HAS(int, tm_taskinfo, tm_node_id, tm_task_id *, int, int *, tm_event_t *);
HAS(int, tm_atnode, tm_task_id, tm_node_id *);
HAS(int, tm_rescinfo, tm_node_id, char *, int, tm_event_t *);
HAS(int, tm_publish, char *, void *, int, tm_event_t *);
HAS(int, tm_subscribe, tm_task_id, char *, void *, int, int *, tm_event_t *);
HAS(int, tm_finalize, void);
HAS(int, tm_alloc, char *, tm_event_t *);
HAS(int, tm_dealloc, tm_node_id, tm_event_t *);
HAS(int, tm_create_event, tm_event_t *);
HAS(int, tm_destroy_event, tm_event_t *);
HAS(int, tm_register, tm_whattodo_t *, tm_event_t *);
HAS(int, tm_attach, char *, char *, pid_t, tm_task_id *, char *, int);

HAS(int, openrm, char *, unsigned int);
HAS(int, closerm, int);
HAS(int, downrm, int);
HAS(int, configrm, int, char *);
HAS(int, addreq, int, char *);
HAS(int, allreq, char *);
HAS(char *, getreq, int);
HAS(int, flushreq, void);
HAS(int, activereq, void);
HAS(void, fullresp, int);

static int bad;

static void same(const char *name, const char *is, const char *expected)
{
    if (strcmp(is, expected) == 0)
        return;
    printf("%s is \"%s\"\n", name, is);
    bad = 1;
}
#define TEXT(constant, expected) same(#constant, constant, expected)

int main(void)
{
    int *where = &pbs_errno; /* an lvalue, each thread's own */
    char *server = pbs_server;

    (void)server;
    *where = 0;
    TEXT(USER_HOLD, "u");
    TEXT(OTHER_HOLD, "o");
    TEXT(SYSTEM_HOLD, "s");
    TEXT(BAD_PASSWORD_HOLD, "p");
    TEXT(NO_HOLD, "n");
    TEXT(CHECKPOINT_UNSPECIFIED, "u");
    TEXT(NO_JOIN, "n");
    TEXT(NO_KEEP, "n");
    TEXT(MAIL_AT_ABORT, "a");
    TEXT(FORCE, "force");
    TEXT(NOMAIL, "nomail");
    TEXT(SUPPRESS_EMAIL, "suppress_email");
    TEXT(DELETEHISTORY, "deletehist");
    TEXT(SITE_HOOK, "hook");
    TEXT(PBS_HOOK, "pbshook");
    return bad;
}
