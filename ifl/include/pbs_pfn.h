/* pbs_pfn.h: every call of pbs_ifl.h may be replaced, by a test for instance.
 *
 * pbs_statjob(...) calls (*pfn_pbs_statjob)(...), which is __pbs_statjob until a program sets it. The library's own
 * calls of one another are not replaced. Set a pointer before a second thread calls; it is never NULL. pbs_ifl.h
 * includes this.
 */
#ifndef _PBS_PFN_H
#define _PBS_PFN_H

/* CALL(type, name, parameters, arguments) */
#define PBS_CALLS(CALL)                                                                                      \
    CALL(int, pbs_connect, (const char *server), (server))                                                   \
    CALL(int, pbs_connect_extend, (const char *server, const char *extend_data), (server, extend_data))      \
    CALL(int, pbs_disconnect, (int c), (c))                                                                  \
    CALL(char *, pbs_default, (void), ())                                                                    \
    CALL(char *, pbs_geterrmsg, (int c), (c))                                                                \
    CALL(struct ecl_attribute_errors *, pbs_get_attributes_in_error, (int c), (c))                           \
    CALL(int, pbs_loadconf, (int reload), (reload))                                                          \
    CALL(int, pbs_geterrno, (void), ())                                                                      \
    CALL(int, pbs_query_max_connections, (void), ())                                                         \
    CALL(int, pbs_connection_set_nodelay, (int c), (c))                                                      \
    CALL(char *, pbs_submit,                                                                                 \
         (int c, struct attropl *attrib, const char *script, const char *destination, const char *extend),   \
         (c, attrib, script, destination, extend))                                                           \
    CALL(int, pbs_alterjob, (int c, const char *jobid, struct attrl *attrib, const char *extend),            \
         (c, jobid, attrib, extend))                                                                         \
    CALL(int, pbs_asyalterjob, (int c, const char *jobid, struct attrl *attrib, const char *extend),         \
         (c, jobid, attrib, extend))                                                                         \
    CALL(int, pbs_deljob, (int c, const char *jobid, const char *extend), (c, jobid, extend))                \
    CALL(struct batch_deljob_status *, pbs_deljoblist,                                                       \
         (int c, char **jobids, int numjids, const char *extend), (c, jobids, numjids, extend))              \
    CALL(void, pbs_delstatfree, (struct batch_deljob_status * list), (list))                                 \
    CALL(int, pbs_holdjob, (int c, const char *jobid, const char *hold_type, const char *extend),            \
         (c, jobid, hold_type, extend))                                                                      \
    CALL(int, pbs_rlsjob, (int c, const char *jobid, const char *hold_type, const char *extend),             \
         (c, jobid, hold_type, extend))                                                                      \
    CALL(char *, pbs_locjob, (int c, const char *jobid, const char *extend), (c, jobid, extend))             \
    CALL(int, pbs_movejob, (int c, const char *jobid, const char *destination, const char *extend),          \
         (c, jobid, destination, extend))                                                                    \
    CALL(int, pbs_msgjob, (int c, const char *jobid, int fileopt, const char *msg, const char *extend),      \
         (c, jobid, fileopt, msg, extend))                                                                   \
    CALL(int, pbs_orderjob, (int c, const char *job1, const char *job2, const char *extend),                 \
         (c, job1, job2, extend))                                                                            \
    CALL(int, pbs_relnodesjob, (int c, const char *jobid, const char *node_list, const char *extend),        \
         (c, jobid, node_list, extend))                                                                      \
    CALL(int, pbs_rerunjob, (int c, const char *jobid, const char *extend), (c, jobid, extend))              \
    CALL(int, pbs_runjob, (int c, const char *jobid, const char *location, const char *extend),              \
         (c, jobid, location, extend))                                                                       \
    CALL(int, pbs_asyrunjob, (int c, const char *jobid, const char *location, const char *extend),           \
         (c, jobid, location, extend))                                                                       \
    CALL(int, pbs_asyrunjob_ack, (int c, const char *jobid, const char *location, const char *extend),       \
         (c, jobid, location, extend))                                                                       \
    CALL(int, pbs_sigjob, (int c, const char *jobid, const char *signal, const char *extend),                \
         (c, jobid, signal, extend))                                                                         \
    CALL(int, pbs_stagein, (int c, const char *jobid, const char *location, const char *extend),             \
         (c, jobid, location, extend))                                                                       \
    CALL(int, pbs_py_spawn, (int c, char *jobid, char **argv, char **envp), (c, jobid, argv, envp))          \
    CALL(int, pbs_isjobid, (const char *text), (text))                                                       \
    CALL(char **, pbs_selectjob, (int c, struct attropl *criteria, const char *extend),                      \
         (c, criteria, extend))                                                                              \
    CALL(struct batch_status *, pbs_selstat,                                                                 \
         (int c, struct attropl *criteria, struct attrl *out, const char *extend),                           \
         (c, criteria, out, extend))                                                                         \
    CALL(struct batch_status *, pbs_statjob, (int c, const char *id, struct attrl *out, const char *extend), \
         (c, id, out, extend))                                                                               \
    CALL(struct batch_status *, pbs_statque,                                                                 \
         (int c, const char *queue, struct attrl *out, const char *extend), (c, queue, out, extend))         \
    CALL(struct batch_status *, pbs_statserver, (int c, struct attrl *out, const char *extend),              \
         (c, out, extend))                                                                                   \
    CALL(struct batch_status *, pbs_statsched, (int c, struct attrl *out, const char *extend),               \
         (c, out, extend))                                                                                   \
    CALL(struct batch_status *, pbs_statnode,                                                                \
         (int c, const char *host, struct attrl *out, const char *extend), (c, host, out, extend))           \
    CALL(struct batch_status *, pbs_stathost,                                                                \
         (int c, const char *host, struct attrl *out, const char *extend), (c, host, out, extend))           \
    CALL(struct batch_status *, pbs_statvnode,                                                               \
         (int c, const char *vnode, struct attrl *out, const char *extend), (c, vnode, out, extend))         \
    CALL(struct batch_status *, pbs_statresv,                                                                \
         (int c, const char *resv, struct attrl *out, const char *extend), (c, resv, out, extend))           \
    CALL(struct batch_status *, pbs_statrsc,                                                                 \
         (int c, const char *resc, struct attrl *out, const char *extend), (c, resc, out, extend))           \
    CALL(struct batch_status *, pbs_stathook,                                                                \
         (int c, const char *hook, struct attrl *out, const char *extend), (c, hook, out, extend))           \
    CALL(void, pbs_statfree, (struct batch_status * list), (list))                                           \
    CALL(char *, pbs_submit_resv, (int c, struct attropl *attrib, const char *extend), (c, attrib, extend))  \
    CALL(char *, pbs_modify_resv, (int c, const char *resvid, struct attropl *attrib, const char *extend),   \
         (c, resvid, attrib, extend))                                                                        \
    CALL(int, pbs_delresv, (int c, const char *resvid, const char *extend), (c, resvid, extend))             \
    CALL(int, pbs_confirmresv,                                                                               \
         (int c, const char *resvid, const char *location, unsigned long start, const char *extend),         \
         (c, resvid, location, start, extend))                                                               \
    CALL(int, pbs_manager,                                                                                   \
         (int c, int command, int objtype, const char *objname, struct attropl *attrib, const char *extend), \
         (c, command, objtype, objname, attrib, extend))                                                     \
    CALL(int, pbs_terminate, (int c, int manner, const char *extend), (c, manner, extend))                   \
    CALL(preempt_job_info *, pbs_preempt_jobs, (int c, char **jobids), (c, jobids))                          \
    CALL(int, pbs_register_sched, (const char *sched_id, int primary_conn, int secondary_conn),              \
         (sched_id, primary_conn, secondary_conn))                                                           \
    CALL(int, pbs_defschreply, (int c, int cmd, char *id, int err, char *txt, char *extend),                 \
         (c, cmd, id, err, txt, extend))                                                                     \
    CALL(int, pbs_rescquery, (int c, char **list, int n, int *avail, int *alloc, int *resv, int *down),      \
         (c, list, n, avail, alloc, resv, down))                                                             \
    CALL(int, pbs_rescreserve, (int c, char **list, int n, pbs_resource_t *id), (c, list, n, id))            \
    CALL(int, pbs_rescrelease, (int c, pbs_resource_t id), (c, id))

#define PBS_CALL_POINTER(type, name, parameters, arguments)                                                  \
    extern type __##name parameters;                                                                         \
    extern type(*pfn_##name) parameters;
PBS_CALLS(PBS_CALL_POINTER)
#undef PBS_CALL_POINTER

#endif /* _PBS_PFN_H */
