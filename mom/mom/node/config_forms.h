#ifndef CONFIG_FORMS_H
#define CONFIG_FORMS_H
/* Forms of values in mom_priv/config that are more than one word or number: read when the file is checked, and again when
 * the values are taken. Each function: 0, or -1 with EINVAL and a text that says what would be right; e may be NULL. */
#include <stdbool.h>

#include "mom_config.h"

/* "0x3cf", "975" */
int config_form_mask(const char *value, unsigned *out, struct err *e);
/* "SIGSTOP", "STOP" or "19": its number. */
int config_form_signal(const char *text, struct err *e);
/* Words between blanks, quotes as in a shell. w is the caller's to finish, whatever comes back. */
int config_form_words(const char *value, struct words *w, struct err *e);
/* "EVENT SECONDS !/SCRIPT ARGS" into `out`, zeroed by the caller, who frees its words: the event. */
int config_form_action(const char *value, struct config_action *out, struct err *e);
const char *config_form_event(enum config_event ev); /* "checkpoint_abort" */
/* $action multinodebusy, which has a form of its own: config_people.h. */
bool config_form_is_multinode(const char *value);
/* "/DIR" or "/DIR shared"; dir, which may be NULL, is the caller's to free. */
int config_form_shared_dir(const char *value, char **dir, bool *shared, struct err *e);

#endif
