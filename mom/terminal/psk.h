#ifndef PSK_H
#define PSK_H
/* TLS 1.3 with a key that both ends know already: the one-time key that qsub has sent with its job. No certificates; who
 * does not have the key cannot finish the handshake. Blocking sockets. */
#include <stddef.h>

#include <openssl/ssl.h>

#include "err.h"

enum { PSK_SIZE = 32, PSK_HEX = 2 * PSK_SIZE };

/* 64 hexadecimal digits. -1: EINVAL. */
int psk_parse(const char *hex, unsigned char key[static PSK_SIZE], struct err *e);

/* The handshake on a connected socket, as the one that connected or the one that was connected to. NULL: EPROTO. The key is
 * borrowed for the call; the caller frees with psk_close, which closes nothing but TLS. */
SSL *psk_connect(int fd, const unsigned char key[static PSK_SIZE], struct err *e);
SSL *psk_accept(int fd, const unsigned char key[static PSK_SIZE], struct err *e);
void psk_close(SSL *s);

#endif
