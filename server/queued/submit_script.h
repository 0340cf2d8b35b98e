#ifndef SUBMIT_SCRIPT_H
#define SUBMIT_SCRIPT_H
/* A script that comes in pieces: SUBMIT has made the job, which is ARRIVING, SCRIPT brings each piece, COMMIT lets the job into its
 * queue if the limits on queued jobs still permit it.
 *
 * Pieces come without gaps. A piece or a COMMIT that is repeated is answered like the first. A submission that stops halfway is
 * given up (submit_pieces.h). */
#include "request.h"

struct submit;

void submit_script_serve_piece(struct submit *s, struct request *r);  /* IFL_SCRIPT */
void submit_script_serve_commit(struct submit *s, struct request *r); /* IFL_COMMIT */

#endif
