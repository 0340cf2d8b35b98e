#ifndef WEB_TOKEN_H
#define WEB_TOKEN_H
/* Tokens, by which a browser or program shows that it may act as the user who runs pbs_web.
 *
 *   text   "cede_" and 64 hexadecimal digits: 256 random bits
 *   file   0600, of the user alone, a line each: "NAME SHA256 RIGHT EXPIRES"; NAME is eight hexadecimal digits, RIGHT is "rw" or
 *          "ro", EXPIRES seconds since 1970. A reader of the file cannot make a token of it.
 *
 * The bits are random, so one SHA-256 is enough: there is nothing that a dictionary could guess. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "err.h"

enum { WEB_TOKEN_TEXT = 5 + 64, WEB_TOKEN_NAME = 8, WEB_TOKENS_MAX = 1024 };

struct web_token {
    char name[WEB_TOKEN_NAME + 1];
    unsigned char hash[32];
    bool read_only;
    int64_t expires_s;
};

/* The file where none is named: $XDG_CONFIG_HOME/cede/web_tokens, else ~/.config/cede/web_tokens. -1: no home is known, or too long. */
int web_token_default(char *path, size_t size, struct err *e);

/* Make a token and add it to the file, from which expired ones are taken out. */
int web_token_make(const char *path, bool read_only, int days, char text[WEB_TOKEN_TEXT + 1],
                   struct web_token *out, struct err *e);
int web_token_list(const char *path, FILE *f, struct err *e);
/* ENOENT: the file has no token of this name. */
int web_token_revoke(const char *path, const char *name, struct err *e);

/* The file as it is now, read again when it changed. Any thread. */
struct web_tokens;
struct web_tokens *web_tokens_open(const char *path); /* NULL: no memory */
/* True: the text is a token that is good now; *out is it. Each hash of the file is compared, in constant time. */
bool web_tokens_check(struct web_tokens *t, const char *text, struct web_token *out);

#endif
