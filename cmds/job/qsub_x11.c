/* The cookie is read only here, on the user's host; it goes to the helper that serves the job's terminal, and no
 * further. */
#include "qsub_x11.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_NO_EXEC = 127, LINE_LEN_MAX = 1024, DISPLAY_LEN_MAX = 512 };

/* The display that ssh calls localhost:10.0 is listed in the file of cookies under this host's own name. */
static void format_display(char out[static DISPLAY_LEN_MAX], const char *display)
{
    static const char local[] = "localhost:";
    size_t n = sizeof local - 1;

    if (strncmp(display, local, n) == 0)
        snprintf(out, DISPLAY_LEN_MAX, "unix:%s", display + n);
    else
        snprintf(out, DISPLAY_LEN_MAX, "%s", display);
}

static bool qsub_x11_take_line(char out[static QSUB_COOKIE_DIGITS + 1], const char *line)
{
    char protocol[64], digits[LINE_LEN_MAX];
    size_t n;

    if (sscanf(line, "%*s %63s %1023s", protocol, digits) != 2 || strcmp(protocol, "MIT-MAGIC-COOKIE-1") != 0)
        return false;
    n = strspn(digits, "0123456789abcdef");
    if (n != QSUB_COOKIE_DIGITS || digits[n])
        return false;
    snprintf(out, QSUB_COOKIE_DIGITS + 1, "%.*s", (int)n, digits);
    return true;
}

static void exec_xauth(const char *display, int to)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0 ||
        dup2(to, STDOUT_FILENO) < 0)
        _exit(EXIT_NO_EXEC);
    execlp("xauth", "xauth", "list", display, (char *)NULL);
    _exit(EXIT_NO_EXEC);
}

static bool read_list(int fd, char out[static QSUB_COOKIE_DIGITS + 1])
{
    FILE *in = fdopen(fd, "r");
    char line[LINE_LEN_MAX];
    bool found = false;

    if (!in) {
        close(fd);
        return false;
    }
    while (fgets(line, sizeof line, in))
        found = found || qsub_x11_take_line(out, line);
    fclose(in);
    explicit_bzero(line, sizeof line);
    return found;
}

/* Run xauth. Return its exit code, or -1; EXIT_NO_EXEC: there is no xauth. */
static int run_xauth(const char *display, char out[static QSUB_COOKIE_DIGITS + 1])
{
    int p[2], status = -1;
    pid_t pid;

    if (pipe2(p, O_CLOEXEC) < 0)
        return -1;
    pid = fork();
    if (pid == 0)
        exec_xauth(display, p[1]);
    close(p[1]);
    read_list(p[0], out);
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int qsub_x11_find(char out[static QSUB_COOKIE_DIGITS + 1], const struct cmd_args *a)
{
    const char *display = getenv("DISPLAY");
    char name[DISPLAY_LEN_MAX];
    int code;

    out[0] = '\0';
    if (!display || !*display) {
        cmd_error(a, "DISPLAY not set");
        return -1;
    }
    format_display(name, display);
    code = run_xauth(name, out);
    if (code == EXIT_NO_EXEC) {
        cmd_error(a, "X11 cannot be forwarded: xauth is not found on this host");
        cmd_hint("install xauth, or put its directory into PATH");
        return -1;
    }
    if (!out[0])
        fprintf(stderr, "qsub (Warning): xauth knows no cookie for display %s\n", display);
    return 0;
}
