/* The errand behind $action. It stays the script's parent, since an image counts only when the script has ended well and
 * the image has reached the disk. */
#include "action.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <shep.h>

#include "errand.h"
#include "image.h"
#include "rundir.h"
#include "site_env.h"
#include "words.h"

enum { EXIT_REFUSED = 254, EXIT_NO_EXEC = 255, SAVED = 0, SAVED_AND_GONE = 3 };

static void execute(const char *path, const struct shep_order *o, int session, char *const argv[])
{
    struct words env;
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);

    words_init(&env);
    site_env_make(o, session, &env);
    site_env_add_sessions(path, &env);
    if (in >= 0 && dup2(in, STDIN_FILENO) >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
        execve(argv[0], argv, env.w);
    _exit(EXIT_NO_EXEC);
}

static int run(const char *path, const struct shep_order *o, int session, char *const argv[])
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        execute(path, o, session, argv);
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return EXIT_REFUSED;
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status)); /* whoever waits for us sees what ended the script */
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_REFUSED;
}

static int keep_image(const char *image, int session, int code, struct err *e)
{
    uint64_t bytes = 0;

    if (code != SAVED && code != SAVED_AND_GONE) {
        image_clear(image);
        return code;
    }
    if (image_commit(image, session, &bytes, e) < 0)
        return EXIT_REFUSED;
    printf("%llu\n", (unsigned long long)bytes);
    return code;
}

int action_run(const char *path, const char *event, int session, const char *image, char *const argv[])
{
    struct shep_order o = {0};
    struct err e = {0};
    int code = EXIT_REFUSED;

    (void)event;
    errand_end_with_parent();
    if (errand_check(argv[0], &e) == 0 && rundir_read_order(path, &o, &e) == 0) {
        if (image[0])
            image_clear(image);
        code = run(path, &o, session, argv);
        if (image[0])
            code = keep_image(image, session, code, &e);
    }
    if (e.code)
        fprintf(stderr, "%s\n", e.text);
    xdr_free((xdrproc_t)xdr_shep_order, &o);
    return code;
}
