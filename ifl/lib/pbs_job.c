/* Requests about one job. Each has its arguments and its procedure; the server checks permissions.
 *
 * Arguments have few shapes (a job; a job and a text; a job and attributes), and each has one function. The call and
 * its split form differ in the last step only: the function that sends is an argument (`caller`). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call.h"
#include "jobid.h"
#include "pbs_error.h"
#include "pbs_ext.h"
#include "report.h"

typedef int caller(int c, uint32_t proc, xdrproc_t xargs, const void *args); /* call_simple, or its send */

static int job_request(caller *how, int c, uint32_t proc, const char *jobid, const char *extend)
{
    ifl_job_args a = {.job = call_text(jobid), .extend = call_text(extend)};

    return how(c, proc, (xdrproc_t)xdr_ifl_job_args, &a);
}

static int text_request(caller *how, int c, uint32_t proc, const char *jobid, const char *text,
                        const char *extend)
{
    ifl_job_text_args a = {.job = call_text(jobid), .text = call_text(text), .extend = call_text(extend)};

    report_clear(c);
    if (call_check_value(c, "an argument", text) < 0)
        return how == call_simple ? pbs_errno : -1;
    return how(c, proc, (xdrproc_t)xdr_ifl_job_text_args, &a);
}

/* An empty value unsets. */
static int alter_request(caller *how, int c, uint32_t proc, const char *jobid, const struct attrl *attrib,
                         const char *extend)
{
    ifl_modify_args a = {.job = call_text(jobid), .extend = call_text(extend)};
    int rc;

    report_clear(c);
    if (call_attrops(c, (const struct attropl *)(const void *)attrib, &a.attrs) < 0)
        return how == call_simple ? pbs_errno : -1;
    for (u_int i = 0; i < a.attrs.wire_attrops_len; i++)
        a.attrs.wire_attrops_val[i].op = *a.attrs.wire_attrops_val[i].value ? SET : UNSET;
    rc = how(c, proc, (xdrproc_t)xdr_ifl_modify_args, &a);
    free(a.attrs.wire_attrops_val);
    return rc;
}

static const char *hold_or_user(const char *hold)
{
    return hold && *hold ? hold : USER_HOLD;
}

int pbs_deljob(int c, const char *jobid, const char *extend)
{
    return job_request(call_simple, c, IFL_DELETE, jobid, extend);
}

int pbs_deljob_send(int c, const char *jobid, const char *extend)
{
    return job_request(call_simple_send, c, IFL_DELETE, jobid, extend);
}

int pbs_rerunjob(int c, const char *jobid, const char *extend)
{
    return job_request(call_simple, c, IFL_RERUN, jobid, extend);
}

int pbs_rerunjob_send(int c, const char *jobid, const char *extend)
{
    return job_request(call_simple_send, c, IFL_RERUN, jobid, extend);
}

int pbs_holdjob(int c, const char *jobid, const char *hold_type, const char *extend)
{
    return text_request(call_simple, c, IFL_HOLD, jobid, hold_or_user(hold_type), extend);
}

int pbs_holdjob_send(int c, const char *jobid, const char *hold_type, const char *extend)
{
    return text_request(call_simple_send, c, IFL_HOLD, jobid, hold_or_user(hold_type), extend);
}

int pbs_rlsjob(int c, const char *jobid, const char *hold_type, const char *extend)
{
    return text_request(call_simple, c, IFL_RELEASE, jobid, hold_or_user(hold_type), extend);
}

int pbs_rlsjob_send(int c, const char *jobid, const char *hold_type, const char *extend)
{
    return text_request(call_simple_send, c, IFL_RELEASE, jobid, hold_or_user(hold_type), extend);
}

int pbs_sigjob(int c, const char *jobid, const char *signal, const char *extend)
{
    return text_request(call_simple, c, IFL_SIGNAL, jobid, signal, extend);
}

int pbs_sigjob_send(int c, const char *jobid, const char *signal, const char *extend)
{
    return text_request(call_simple_send, c, IFL_SIGNAL, jobid, signal, extend);
}

int pbs_relnodesjob(int c, const char *jobid, const char *node_list, const char *extend)
{
    return text_request(call_simple, c, IFL_RELEASE_NODES, jobid, node_list, extend);
}

int pbs_movejob(int c, const char *jobid, const char *destination, const char *extend)
{
    return text_request(call_simple, c, IFL_MOVE, jobid, destination, extend);
}

int pbs_orderjob(int c, const char *job1, const char *job2, const char *extend)
{
    return text_request(call_simple, c, IFL_ORDER, job1, job2, extend);
}

int pbs_runjob(int c, const char *jobid, const char *location, const char *extend)
{
    return text_request(call_simple, c, IFL_RUN, jobid, location, extend);
}

int pbs_runjob_send(int c, const char *jobid, const char *location, const char *extend)
{
    return text_request(call_simple_send, c, IFL_RUN, jobid, location, extend);
}

int pbs_asyrunjob(int c, const char *jobid, const char *location, const char *extend)
{
    return text_request(call_simple, c, IFL_RUN_ASYNC, jobid, location, extend);
}

int pbs_asyrunjob_send(int c, const char *jobid, const char *location, const char *extend)
{
    return text_request(call_simple_send, c, IFL_RUN_ASYNC, jobid, location, extend);
}

int pbs_asyrunjob_ack(int c, const char *jobid, const char *location, const char *extend)
{
    return text_request(call_simple, c, IFL_RUN_ACK, jobid, location, extend);
}

int pbs_asyrunjob_ack_send(int c, const char *jobid, const char *location, const char *extend)
{
    return text_request(call_simple_send, c, IFL_RUN_ACK, jobid, location, extend);
}

int pbs_alterjob(int c, const char *jobid, struct attrl *attrib, const char *extend)
{
    return alter_request(call_simple, c, IFL_MODIFY, jobid, attrib, extend);
}

int pbs_alterjob_send(int c, const char *jobid, struct attrl *attrib, const char *extend)
{
    return alter_request(call_simple_send, c, IFL_MODIFY, jobid, attrib, extend);
}

int pbs_asyalterjob_send(int c, const char *jobid, struct attrl *attrib, const char *extend)
{
    return alter_request(call_simple_send, c, IFL_MODIFY_ASYNC, jobid, attrib, extend);
}

/* The answer is thrown away when it comes. */
int pbs_asyalterjob(int c, const char *jobid, struct attrl *attrib, const char *extend)
{
    int ticket = pbs_asyalterjob_send(c, jobid, attrib, extend);

    return ticket < 0 || pbs_drop(c, ticket) < 0 ? pbs_errno : 0;
}

char *pbs_locjob(int c, const char *jobid, const char *extend)
{
    ifl_job_args a = {.job = call_text(jobid), .extend = call_text(extend)};
    ifl_text_result r = {0};
    char *server = NULL;

    if (call_do(c, IFL_LOCATE, (xdrproc_t)xdr_ifl_job_args, &a, (xdrproc_t)xdr_ifl_text_result, &r) == 0) {
        server = strdup(r.text);
        if (!server)
            (void)report_set(c, PBSE_SYSTEM, "no memory for the name of a server");
    }
    xdr_free((xdrproc_t)xdr_ifl_text_result, (char *)&r);
    return server;
}

/* --- many at once: in requests of at most PBS_LIST_MAX names */
static int add_failures(struct batch_deljob_status ***tail, const ifl_delete_list_result *r)
{
    for (u_int i = 0; i < r->failures.failures_len; i++) {
        const ifl_delete_failure *f = &r->failures.failures_val[i];
        struct batch_deljob_status *s = calloc(1, sizeof *s);

        if (!s || !(s->name = strdup(f->job))) {
            free(s);
            return -1;
        }
        s->code = f->code;
        **tail = s;
        *tail = &s->next;
    }
    return 0;
}

static int delete_some(int c, char **jobids, u_int n, const char *extend, struct batch_deljob_status ***tail)
{
    ifl_delete_list_args a = {
        .jobs = {.jobs_len = n, .jobs_val = jobids},
        .extend = call_text(extend),
    };
    ifl_delete_list_result r = {0};
    int code = call_do(c, IFL_DELETE_LIST, (xdrproc_t)xdr_ifl_delete_list_args, &a,
                       (xdrproc_t)xdr_ifl_delete_list_result, &r);

    if (add_failures(tail, &r) < 0)
        code = report_set(c, PBSE_SYSTEM, "no memory for the jobs that were not deleted");
    xdr_free((xdrproc_t)xdr_ifl_delete_list_result, (char *)&r);
    return code;
}

static int check_names(int c, char **jobids, int n)
{
    if (n < 0)
        return report_set(c, PBSE_IVALREQ, "%d jobs to be deleted", n);
    for (int i = 0; i < n; i++)
        if (!jobids || !jobids[i])
            return report_set(c, PBSE_IVALREQ, "of %d jobs to be deleted number %d is not a text", n, i + 1);
    return 0;
}

struct batch_deljob_status *pbs_deljoblist(int c, char **jobids, int numjids, const char *extend)
{
    struct batch_deljob_status *head = NULL, **tail = &head;
    int left = numjids, code;

    report_clear(c);
    code = check_names(c, jobids, numjids);
    for (; left > 0 && (code == 0 || head); left -= PBS_LIST_MAX, jobids += PBS_LIST_MAX) {
        u_int n = left < PBS_LIST_MAX ? (u_int)left : PBS_LIST_MAX;

        code = delete_some(c, jobids, n, extend, &tail);
    }
    return head;
}

void pbs_delstatfree(struct batch_deljob_status *list)
{
    while (list) {
        struct batch_deljob_status *next = list->next;

        free(list->name);
        free(list);
        list = next;
    }
}

int pbs_isjobid(const char *text)
{
    return text && jobid_is_jobid(text);
}

int pbs_msgjob(int c, const char *jobid, int fileopt, const char *msg, const char *extend)
{
    ifl_message_args a = {.job = call_text(jobid),
                          .files = (u_int)fileopt & (MSG_OUT | MSG_ERR),
                          .text = call_text(msg),
                          .extend = call_text(extend)};

    return call_simple(c, IFL_MESSAGE, (xdrproc_t)xdr_ifl_message_args, &a);
}

int pbs_peekjob(int c, const char *jobid, int file, long long offset, const char *extend,
                struct pbs_peek *piece)
{
    ifl_peek_args a = {.job = call_text(jobid), .file = (u_int)file, .offset = offset};
    ifl_peek_result r = {0};
    int code;

    code = call_do(c, IFL_PEEK, (xdrproc_t)xdr_ifl_peek_args, &a, (xdrproc_t)xdr_ifl_peek_result, &r);
    if (code == 0 && piece) {
        piece->offset = r.offset;
        piece->size = r.size;
        piece->n = r.data.data_len;
        if (piece->n > 0)
            memcpy(piece->data, r.data.data_val, piece->n);
    }
    xdr_free((xdrproc_t)xdr_ifl_peek_result, (char *)&r);
    return code;
}

/* --- later */
int pbs_stagein(int c, const char *jobid, const char *location, const char *extend)
{
    (void)jobid, (void)location, (void)extend;
    return call_unsupported(c, "staging in before a job runs");
}

int pbs_py_spawn(int c, char *jobid, char **argv, char **envp)
{
    (void)jobid, (void)argv, (void)envp;
    return call_unsupported(c, "starting a program in a job from outside");
}

/* --- a script read back, piece by piece */
static int pbs_job_write_all(int c, int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, bytes, n);

        if (done < 0 && errno != EINTR)
            return report_set(c, PBSE_SYSTEM, "the script cannot be written: %s", strerror(errno));
        if (done > 0) {
            bytes += done;
            n -= (size_t)done;
        }
    }
    return 0;
}

int pbs_jobscript(int c, const char *jobid, int fd, const char *extend)
{
    ifl_script_args a = {.job = call_text(jobid)};
    int code;
    u_int n;

    do {
        ifl_script_result r = {0};

        code = call_do(c, IFL_READ_SCRIPT, (xdrproc_t)xdr_ifl_script_args, &a,
                       (xdrproc_t)xdr_ifl_script_result, &r);
        n = r.data.data_len;
        if (code == 0)
            code = pbs_job_write_all(c, fd, r.data.data_val, n);
        a.offset += n;
        xdr_free((xdrproc_t)xdr_ifl_script_result, (char *)&r);
    } while (code == 0 && n > 0);
    return code;
}
