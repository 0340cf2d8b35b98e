/* One answer to SIS FETCH: the size of the file as it is now, and the bytes at the offset that was asked for. Nothing is remembered
 * between two pieces, so a piece may be asked for twice and a host that begins again needs no call for that. Both kinds of files that a
 * host gives away use this (requeue_output.c, ckpt/image_out.c). */
#include "sis_pieces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sis.h>

#include "pbs_error.h"
#include "rpc_request.h"

/* A choice between the number of calls for a file and the memory of one answer. */
enum { PIECE = 262144 };

static void reply(struct rpc_request *q, sis_fetch_result *res)
{
    rpc_reply(q, (xdrproc_t)xdr_sis_fetch_result, res);
}

void sis_pieces_refuse(struct rpc_request *q, int code, const char *text)
{
    char none[1] = "";
    sis_fetch_result res = {.code = code, .text = (char *)text, .bytes = {0, none}};

    reply(q, &res);
}

void sis_pieces_reply(struct rpc_request *q, int fd, uint64_t offset)
{
    char none[1] = "";
    sis_fetch_result res = {.text = none};
    struct stat st = {0};
    char *piece = malloc(PIECE);
    ssize_t n = 0;

    if (fd >= 0 && (fstat(fd, &st) < 0 || !piece || (n = pread(fd, piece, PIECE, (off_t)offset)) < 0)) {
        sis_pieces_refuse(q, PBSE_SYSTEM, piece ? strerror(errno) : "no memory");
    } else {
        res.size = (uint64_t)st.st_size;
        res.bytes.bytes_val = piece ? piece : none;
        res.bytes.bytes_len = (u_int)n;
        reply(q, &res);
    }
    free(piece);
}
