#ifndef TM__H
#define TM__H
/* Types and numbers of the task management interface; the functions are described in tm.h. */

typedef int tm_host_id;
typedef int tm_node_id;          /* a line of PBS_NODEFILE, from 0 */
typedef int tm_event_t;          /* a request under way */
typedef unsigned int tm_task_id; /* unique in its job */

#define TM_ERROR_NODE ((tm_node_id)-1)

#define TM_NULL_EVENT  ((tm_event_t)0)
#define TM_ERROR_EVENT ((tm_event_t)-1)

#define TM_NULL_TASK ((tm_task_id)0)
#define TM_INIT_TASK ((tm_task_id)1) /* the job's script */

/* What a request asks for. */
#define TM_INIT      100
#define TM_TASKS     101
#define TM_SPAWN     102
#define TM_SIGNAL    103
#define TM_OBIT      104
#define TM_RESOURCES 105
#define TM_POSTINFO  106
#define TM_GETINFO   107
#define TM_GETTID    108
#define TM_REGISTER  109
#define TM_RECONFIG  110
#define TM_ACK       111
#define TM_FINALIZE  112
#define TM_ATTACH    113
#define TM_OKAY      0
#define TM_ERROR     999

/* What tm_register would be told to do. */
#define TM_TODO_NOP  5000
#define TM_TODO_CKPT 5001
#define TM_TODO_MOVE 5002
#define TM_TODO_QUIT 5003
#define TM_TODO_STOP 5004

/* What a function returns, or leaves in tm_errno. */
#define TM_SUCCESS         0
#define TM_ESYSTEM         17000 /* the system refused, or the job's shepherd cannot be reached */
#define TM_ENOEVENT        17001
#define TM_ENOTCONNECTED   17002
#define TM_EUNKNOWNCMD     17003
#define TM_ENOTIMPLEMENTED 17004
#define TM_EBADENVIRONMENT 17005 /* a variable is missing, or the cookie is not the job's */
#define TM_ENOTFOUND       17006 /* no such node, task or name */
#define TM_BADINIT         17007 /* tm_init has not been called, or twice */
#define TM_ESESSION        17008 /* the session belongs to a task already */
#define TM_EUSER           17009
#define TM_EOWNER          17010 /* not the caller's job, or not its process */
#define TM_ENOPROC         17011
#define TM_EHOOK           17012

#endif
