/* Every call of pbs_ifl.h with arguments that are none: `ill_arguments HOW JOB`, where HOW is
 *
 *   null    each pointer is NULL
 *   empty   each text is "", each list has one entry of empty texts
 *   huge    each text is larger than a request may be, each list longer
 *   job     JOB, a job that is held, and NULL for the rest
 *   lost    as `job`, on a connection whose server is gone: it prints "ready" and waits for a line before the first call
 *   closed  as `job`, on a handle that was closed
 *
 * It prints a line for each call: its name, what it returned (a number, or some or NULL for a pointer), and pbs_errno. */
#include <pbs_error.h>
#include <pbs_ifl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HUGE_TEXT = 20 * 1024 * 1024, HUGE_LIST = 200000, HUGE_NAMES = 300000 };

static int c;
static char *job, *text; /* JOB where one is named; any other text */
static struct attropl *list;
static char **names;
static int n_names;

#define CODE(call)                                                                                           \
    do {                                                                                                     \
        int rc_;                                                                                             \
        pbs_errno = 0;                                                                                       \
        rc_ = call;                                                                                          \
        said(#call, rc_, NULL);                                                                              \
    } while (0)

#define POINTER(call)                                                                                        \
    do {                                                                                                     \
        const void *p_;                                                                                      \
        pbs_errno = 0;                                                                                       \
        p_ = call;                                                                                           \
        said(#call, 0, p_ ? "some" : "NULL");                                                                \
    } while (0)

static void said(const char *call, int rc, const char *pointer)
{
    int code = pbs_errno;

    printf("%.*s ", (int)strcspn(call, "("), call);
    if (pointer)
        printf("%s %d\n", pointer, code);
    else
        printf("%d %d\n", rc, code);
    fflush(stdout);
}

static struct attrl *attrs(void)
{
    return (struct attrl *)(void *)list; /* of one layout, as pbs_ifl.h says */
}

static void about_jobs(void)
{
    POINTER(pbs_submit(c, list, text, text, text));
    CODE(pbs_alterjob(c, job, attrs(), text));
    CODE(pbs_asyalterjob(c, job, attrs(), text));
    CODE(pbs_holdjob(c, job, text, text));
    CODE(pbs_rlsjob(c, job, text, text));
    POINTER(pbs_locjob(c, job, text));
    CODE(pbs_movejob(c, job, text, text));
    CODE(pbs_msgjob(c, job, 0, text, text));
    CODE(pbs_orderjob(c, job, text, text));
    CODE(pbs_relnodesjob(c, job, text, text));
    CODE(pbs_rerunjob(c, job, text));
    CODE(pbs_asyrunjob(c, job, text, text));
    CODE(pbs_asyrunjob_ack(c, job, text, text));
    CODE(pbs_runjob(c, job, text, text));
    CODE(pbs_sigjob(c, job, text, text));
    CODE(pbs_stagein(c, job, text, text));
    CODE(pbs_py_spawn(c, job, names, names));
    POINTER(pbs_preempt_jobs(c, names));
    POINTER(pbs_deljoblist(c, names, n_names, text));
    POINTER(pbs_deljoblist(c, NULL, 3, text));
    POINTER(pbs_deljoblist(c, names, -1, text));
    printf("pbs_isjobid %d\n", pbs_isjobid(text));
}

static void questions(void)
{
    POINTER(pbs_selectjob(c, list, text));
    POINTER(pbs_selstat(c, list, attrs(), text));
    POINTER(pbs_statjob(c, text, attrs(), text));
    POINTER(pbs_statque(c, text, attrs(), text));
    POINTER(pbs_statserver(c, attrs(), text));
    POINTER(pbs_statsched(c, attrs(), text));
    POINTER(pbs_statnode(c, text, attrs(), text));
    POINTER(pbs_stathost(c, text, attrs(), text));
    POINTER(pbs_statvnode(c, text, attrs(), text));
    POINTER(pbs_statresv(c, text, attrs(), text));
    POINTER(pbs_statrsc(c, text, attrs(), text));
    POINTER(pbs_stathook(c, text, attrs(), text));
    pbs_statfree(NULL);
    pbs_delstatfree(NULL);
}

static void objects(void)
{
    POINTER(pbs_submit_resv(c, list, text));
    POINTER(pbs_modify_resv(c, text, list, text));
    CODE(pbs_delresv(c, text, text));
    CODE(pbs_confirmresv(c, text, text, 0, text));
    for (int object = MGR_OBJ_NONE; object <= MGR_OBJ_LAST; object++)
        for (int command = MGR_CMD_NONE; command <= MGR_CMD_LAST; command++)
            if (object != MGR_OBJ_SERVER || command != MGR_CMD_SET) /* which sets nothing: 0 */
                CODE(pbs_manager(c, command, object, text, list, text));
    CODE(pbs_terminate(c, 7, text));
    CODE(pbs_register_sched(text, c, c));
    CODE(pbs_defschreply(c, -1, job, -1, text, text));
    CODE(pbs_rescquery(c, names, n_names, NULL, NULL, NULL, NULL));
    CODE(pbs_rescreserve(c, names, n_names, NULL));
    CODE(pbs_rescrelease(c, RESOURCE_T_ALL));
}

/* On handles that are none: what needs no connection, and what looks at one. */
static void handles(void)
{
    static const int wrong[] = {-1, 0, 1000000};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        c = wrong[i];
        CODE(pbs_disconnect(c));
        CODE(pbs_connection_set_nodelay(c));
        CODE(pbs_deljob(c, job, text));
        POINTER(pbs_statserver(c, NULL, NULL));
        (void)pbs_geterrmsg(c);
        (void)pbs_get_attributes_in_error(c);
    }
}

static char *fill(size_t n)
{
    char *all = malloc(n + 1);

    if (!all)
        abort();
    memset(all, 'a', n);
    all[n] = '\0';
    return all;
}

static void make_list(int n)
{
    struct attropl *all = calloc((size_t)n, sizeof *all);

    if (!all)
        abort();
    for (int i = 0; i < n; i++)
        all[i] = (struct attropl){i + 1 < n ? &all[i + 1] : NULL, text, text, text, (enum batch_op)99};
    list = all;
}

static void make_names(int n)
{
    names = calloc((size_t)n + 1, sizeof *names);
    if (!names)
        abort();
    for (n_names = 0; n_names < n; n_names++)
        names[n_names] = text;
}

static void prepare(const char *how, char *id)
{
    char line[8];

    if (!strcmp(how, "empty") || !strcmp(how, "huge")) {
        job = text = fill(*how == 'h' ? HUGE_TEXT : 0);
        make_list(*how == 'h' ? HUGE_LIST : 1);
        make_names(*how == 'h' ? HUGE_NAMES : 1);
    } else if (strcmp(how, "null")) {
        job = id;
    }
    if (!strcmp(how, "closed"))
        (void)pbs_disconnect(c);
    if (!strcmp(how, "lost")) {
        puts("ready");
        fflush(stdout);
        if (!fgets(line, sizeof line, stdin))
            abort();
    }
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    c = pbs_connect(NULL);
    if (c < 0)
        return 1;
    prepare(argv[1], argv[2]);
    about_jobs();
    questions();
    objects();
    CODE(pbs_deljob(c, job, text));
    handles();
    return 0;
}
