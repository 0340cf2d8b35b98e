#ifndef MAIL_H
#define MAIL_H
/* What is mailed about jobs, to whom, and when.
 *
 * Points a (ended by another user, or could not be run), b (begins), e (ends); n none; of a subjob only with j. To
 * Mail_Users, else to the owner. The text begins with To: and Subject:, as a mail program takes it. */
#include "job.h"
#include "job_fsm.h"
#include "server_events.h"

struct mail;
struct mailer;
struct server_ctx;

/* `host` is added to addresses without one (PBS_MAIL_HOST_NAME); NULL: the submit host, for owners. */
struct mail *mail_create(struct server_ctx *s, struct mailer *m, const char *host);
void mail_destroy(struct mail *m);

/* Listener of the machine, while the run is still there: begin, end, and stage-in that failed. */
void mail_listen(void *mail, struct job *j, enum job_state from, enum job_event ev);

/* `who` ("user@host") deletes it: mailed where `user` is not its owner; nothing more is said of its end. Was it mailed? */
bool mail_deleted(struct mail *m, struct job *j, const char *who, const char *user);
/* Listeners of server_events.h, each of the event of its name. It was preempted by deletion; its record still says for whom. */
void mail_on_preempted(void *mail, const struct server_event *ev);
/* The server ends it: dependencies, queues. */
void mail_on_unwanted(void *mail, const struct server_event *ev);
/* About a reservation, if its Mail_Points have this letter: a b c e. */
void mail_on_resv(void *mail, const struct server_event *ev);
/* Files of it could not be taken where they belong; sent whatever was asked for. */
void mail_files(struct mail *m, struct job *j, const char *host, const char *text);

#endif
