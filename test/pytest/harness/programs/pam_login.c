/* pam_login SERVICE USER [PROCS]: a daemon that logs a user in, as sshd does it: a session of its own, account, session, a child that
 * becomes the user. PROCS: a file cgroup.procs that it enters in between, as pam_systemd has it do.
 *
 * It prints what PAM says, a line "child PID" when the user is in, and lives as long as the child. */
#include <grp.h>
#include <pwd.h>
#include <security/pam_appl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int print(int n, const struct pam_message **m, struct pam_response **out, void *arg)
{
    for (int i = 0; i < n; i++)
        printf("says %s\n", m[i]->msg);
    *out = calloc((size_t)n, sizeof **out);
    return *out ? PAM_SUCCESS : PAM_BUF_ERR;
}

static void be(const char *user)
{
    const struct passwd *p = getpwnam(user);

    setsid();
    if (!p || setgroups(0, NULL) < 0 || setgid(p->pw_gid) < 0 || setuid(p->pw_uid) < 0)
        _exit(1);
    printf("child %d\n", (int)getpid());
    fflush(stdout);
    execlp("sleep", "sleep", "600", (char *)NULL);
    _exit(1);
}

int main(int argc, char *argv[])
{
    const struct pam_conv conv = {print, NULL};
    pam_handle_t *h;
    int rc;
    FILE *f;
    pid_t child;

    if (argc < 3 || setsid() < 0 || pam_start(argv[1], argv[2], &conv, &h) != PAM_SUCCESS)
        return 2;
    rc = pam_acct_mgmt(h, 0);
    printf("account %s\n", pam_strerror(h, rc));
    printf("job %s\n", pam_getenv(h, "PBS_JOBID") ? pam_getenv(h, "PBS_JOBID") : "none");
    fflush(stdout);
    if (rc != PAM_SUCCESS)
        return 1;
    if (argc > 3 && (f = fopen(argv[3], "w"))) {
        fprintf(f, "%d", (int)getpid());
        fclose(f);
    }
    printf("session %s\n", pam_strerror(h, pam_open_session(h, 0)));
    fflush(stdout);
    child = fork();
    if (child == 0)
        be(argv[2]);
    waitpid(child, NULL, 0);
    return pam_end(h, PAM_SUCCESS);
}
