#ifndef SETTINGS_H
#define SETTINGS_H
/* A configuration file as rows: which settings it may have, of which type and range, and which value holds when one
 * is missing.
 *
 * A file is loaded whole or not at all: an error names file, line and what would be right, and the caller
 * keeps the settings that it had. Lines are "$name value", "name: value" or "NAME=value"; # begins a comment
 * where a line begins (and, in the first two styles, after a blank); blank lines are nothing. The caller
 * gives an enum whose members are the indices of its rows.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct settings;
struct strbuf;

enum settings_style {
    SETTINGS_DOLLAR, /* $logevent 511      MOM */
    SETTINGS_COLON,  /* round_robin: false all    scheduler */
    SETTINGS_EQUALS  /* PBS_SERVER=host    pbs.conf; quotes around the value are dropped */
};

enum settings_type {
    SETTINGS_TEXT,
    SETTINGS_INT,
    SETTINGS_REAL,
    SETTINGS_BOOL,
    SETTINGS_DURATION,
    SETTINGS_SIZE,
    SETTINGS_TYPE_COUNT
};

enum settings_flags {
    SETTINGS_LIVE = 1,  /* a reload applies it; without this it needs a restart */
    SETTINGS_REPEAT = 2 /* may be written several times, and each counts; otherwise the last one does */
};

struct settings_row {
    const char *name; /* without $ : = */
    enum settings_type type;
    const char *unit;     /* "s", "kb" or NULL; for texts and the manual */
    double min, max;      /* of INT, REAL, DURATION (seconds), SIZE (kb); both 0: any */
    const char *preset;   /* what holds when it is missing, in the file's spelling; NULL: nothing */
    const char *sentence; /* what it does, for the manual */
    unsigned flags;
    int (*check)(const char *value, struct err *e); /* more than type and range; or NULL */
};

struct settings_schema {
    enum settings_style style;
    const struct settings_row *rows;
    size_t n_rows;
    /* NULL-terminated words that may follow a value ("prime", "non_prime", "all"); NULL: none may. The setting may
     * then be written once for each word. */
    const char *const *qualifiers;
    /* A line, by its number, whose name is not a row. NULL: it is an error, with the nearest name as a hint. 0: taken; -1:
     * refused. In SETTINGS_DOLLAR, lines without $ come here too. */
    int (*other)(void *context, const char *name, const char *value, int line, struct err *e);
    void *context;
};

/* Read a file. NULL: the errno of reading, or EINVAL with "FILE line N: ..." (SETTINGS_COLON: in PBS's words, "FILE: Error
 * reading line N: Config line invalid: ..."). ENOENT is told apart, so that a missing file may mean all presets. */
struct settings *settings_load(const struct settings_schema *s, const char *path, struct err *e);
struct settings *settings_parse(const struct settings_schema *s, const char *text,
                                const char *name_for_errors, struct err *e);
struct settings *settings_presets(const struct settings_schema *s, struct err *e); /* as an empty file */
void settings_destroy(struct settings *v);

/* Values, by row index; each asserts the row's type. What is missing and has no preset is 0, false, NULL. */
const char *settings_text(const struct settings *v, size_t row); /* any type: as written */
int64_t settings_int(const struct settings *v, size_t row);
double settings_real(const struct settings *v, size_t row);
bool settings_bool(const struct settings *v, size_t row);
int64_t settings_duration_s(const struct settings *v, size_t row);
bool settings_has(const struct settings *v, size_t row); /* it is written in the file */

/* Each time that the setting is written in the file, in order: value as written, its qualifier ("" if none), its
 * line. NULL past the end. */
struct settings_item {
    const char *value;
    const char *qualifier;
    int line;
};
const struct settings_item *settings_item(const struct settings *v, size_t row, size_t i);

/* The first row, from `from` on, that differs between the two and is not LIVE: the log must ask for a restart. n_rows
 * when there is none. */
size_t settings_next_fixed(const struct settings *before, const struct settings *after, size_t from);

#endif
