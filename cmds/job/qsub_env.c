/* Three sources in their order, each adding what the ones before have not: the PBS_O_ variables, those that -v names,
 * the whole environment (-V). PBS_O_ variables are made here only: neither -v nor -V may bring one. Where LOGNAME is not set,
 * as in containers and services, the server adds PBS_O_LOGNAME: it knows the user, and a look-up here costs a tenth of the whole
 * command. Cookies of a job from which qsub is called are left out. */
#include "qsub_env.h"

#include <ctype.h>
#include <errno.h>
#include <sys/utsname.h>

#include "strbuf.h"
#include "words.h"

static const struct {
    const char *name, *from;
} copied[] = {
    {"PBS_O_HOME", "HOME"}, {"PBS_O_LANG", "LANG"},   {"PBS_O_LOGNAME", "LOGNAME"}, {"PBS_O_PATH", "PATH"},
    {"PBS_O_MAIL", "MAIL"}, {"PBS_O_SHELL", "SHELL"}, {"PBS_O_TZ", "TZ"},
};

/* Return the value of NAME in the environment given, or NULL. */
static const char *qsub_env_find(char **environment, const char *name, size_t n)
{
    for (; *environment; environment++)
        if (!strncmp(*environment, name, n) && (*environment)[n] == '=')
            return *environment + n + 1;
    return NULL;
}

/* A word of the list ends at a comma, and blanks at its end vanish, unless a backslash protects them. */
static void escape(struct strbuf *out, const char *value)
{
    for (; *value; value++) {
        if (strchr(",\\", *value) || (isspace((unsigned char)*value) && !value[1]))
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, *value);
    }
}

static void qsub_env_add(struct strbuf *out, const char *name, size_t n, const char *value)
{
    strbuf_add_sep(out, ",");
    strbuf_add_bytes(out, name, n);
    strbuf_add_char(out, '=');
    escape(out, value);
}

static void add_own(const struct qsub_env *q, struct strbuf *out)
{
    struct utsname u;
    size_t i;

    for (i = 0; i < sizeof copied / sizeof copied[0]; i++) {
        const char *v = qsub_env_find(q->environment, copied[i].from, strlen(copied[i].from));

        if (v)
            qsub_env_add(out, copied[i].name, strlen(copied[i].name), v);
    }
    qsub_env_add(out, "PBS_O_WORKDIR", 13, q->workdir);
    if (uname(&u) < 0)
        return;
    qsub_env_add(out, "PBS_O_SYSTEM", 12, u.sysname);
    qsub_env_add(out, "PBS_O_HOST", 10, q->host ? q->host : u.nodename);
}

static bool qsub_env_is_name(const char *s, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        if (!isgraph((unsigned char)s[i]) || strchr(",\"'", s[i]))
            return false;
    return n > 0;
}

static int add_wanted(const struct qsub_env *q, const char *word, struct strbuf *out, struct err *e)
{
    size_t n = strcspn(word, "=");
    const char *value = word[n] ? word + n + 1 : qsub_env_find(q->environment, word, n);

    if (!qsub_env_is_name(word, n))
        return err_set(e, EINVAL, "\"%.100s\" is not a name of a variable", word);
    if (!strncmp(word, "PBS_O_", 6))
        return 0;
    if (!value)
        return err_set(e, EINVAL, "variable %.100s is not set", word);
    qsub_env_add(out, word, n, value);
    return 0;
}

static int add_list(const struct qsub_env *q, const struct words *wanted, struct strbuf *out, struct err *e)
{
    size_t i;

    for (i = 0; i < wanted->n; i++)
        if (add_wanted(q, wanted->w[i], out, e) < 0)
            return -1;
    return 0;
}

static bool is_wanted(const struct words *wanted, const char *name, size_t n)
{
    size_t i;

    for (i = 0; i < wanted->n; i++)
        if (!strncmp(wanted->w[i], name, n) && (!wanted->w[i][n] || wanted->w[i][n] == '='))
            return true;
    return false;
}

static void qsub_env_add_all(const struct qsub_env *q, const struct words *wanted, struct strbuf *out)
{
    char **v;

    for (v = q->environment; *v; v++) {
        size_t n = strcspn(*v, "=");

        if ((*v)[n] && qsub_env_is_name(*v, n) && strncmp(*v, "PBS_O_", 6) != 0 &&
            strncmp(*v, "PBS_JOBCOOKIE=", 14) != 0 && strncmp(*v, "PBS_INTERACTIVE_COOKIE=", 23) != 0 &&
            !is_wanted(wanted, *v, n))
            qsub_env_add(out, *v, n, *v + n + 1);
    }
}

int qsub_env_format(const struct qsub_env *q, struct strbuf *out, struct err *e)
{
    struct words wanted;
    int rc = 0;

    words_init(&wanted);
    add_own(q, out);
    if (q->wanted)
        rc = words_parse(q->wanted, ",", WORDS_QUOTES | WORDS_BACKSLASH | WORDS_TRIM, &wanted, e);
    if (rc == 0)
        rc = add_list(q, &wanted, out, e);
    if (rc == 0 && q->all)
        qsub_env_add_all(q, &wanted, out);
    if (rc == 0 && !strbuf_ok(out))
        rc = err_set(e, ENOMEM, "the environment is too large");
    words_fini(&wanted);
    return rc;
}
