#ifndef JSON_OUT_H
#define JSON_OUT_H
/* JSON straight to a stream, as fast as its text can be copied: one member a line, four blanks a level; or without
 * any blanks, for programs.
 *
 * The caller opens and closes in order; inside an object every call has a key, inside an array none (NULL).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct json_out {
    FILE *f;
    int depth;
    bool first;   /* the present object is empty so far */
    bool compact; /* no blanks and newlines; set by the caller after json_out_begin */
};

void json_out_begin(struct json_out *j, FILE *f); /* the outermost object */
void json_out_end(struct json_out *j);            /* and a newline */

void json_out_open(struct json_out *j, const char *key, char bracket); /* '{' or '[' */
void json_out_close(struct json_out *j, char bracket);                 /* '}' or ']' */

void json_out_string(struct json_out *j, const char *key, const char *value);
void json_out_number(struct json_out *j, const char *key, long long value);

/* Write the text unchanged when it is JSON by itself (42, true, "x", {"a":1}), else as a string. */
void json_out_any(struct json_out *j, const char *key, const char *value);
void json_out_any_n(struct json_out *j, const char *key, const char *value, size_t n);

#endif
