#ifndef ATTRIB_ERRORS_H
#define ATTRIB_ERRORS_H
/* The answer to attributes that are refused: the first one that was found, with its code and text for the
 * whole, and after it each other one that is wrong by itself, so that a user can correct all at once. Faults
 * that depend on several attributes, or on the object, only show when the rest is right. */
#include "attr_edit.h"
#include "request.h"

struct attrib_errors_ask {
    struct server_ctx *ctx;
    enum attr_of of;
    const struct attr_edit_change *changes; /* all of the request */
    size_t n, at; /* the one that was found; n: none in particular, then no others are looked for */
    struct attr_writer writer; /* as they would have been written */
};

/* Answers the request. Rule: pbs_get_attributes_in_error(). */
void attrib_errors_answer(struct request *r, const struct err *why, const struct attrib_errors_ask *ask);

#endif
