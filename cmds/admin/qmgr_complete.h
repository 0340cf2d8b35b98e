#ifndef QMGR_COMPLETE_H
#define QMGR_COMPLETE_H
/* The words that may end a line of qmgr that is being typed: commands, objects, names, attributes and, behind the dot
 * of an attribute, resources. Pure, except for the names, which the caller provides. */
#include <stddef.h>

struct qmgr_complete {
    /* ^ one word that fits, with what is already typed of it */
    void (*word)(void *arg, const char *word);
    void *arg;
    /* ^ call `found` for the names of all objects of a kind (enum mgr_obj) */
    void (*names)(void *arg, int object, void (*found)(void *to, const char *name), void *to);
    void *names_arg;
};

/* Offer words for the last one of `line`, which may be "" (the line ends with a blank). Return how many characters of
 * it are typed already. */
size_t qmgr_complete(const char *line, const struct qmgr_complete *c);

#endif
