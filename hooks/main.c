/* pbs_tables: print the tables of ifl/ as a Python module, hooks/pbs/tables.py of the build.
 *
 * The module holds data only: attributes of each kind of object with type, least level that may write and flags;
 * built-in resources with type and flags; numbers and names of states, commands and operators of the API; errors. The
 * package `pbs` makes types, permissions and constants from them, so a new row of a table is a new attribute in hooks;
 * the package `cede` has a copy.
 */
#include <stdio.h>
#include <string.h>

#include "attr_def.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "resource.h"
#include "value.h"

static const char *const type_names[] = {
#define TYPE(id, type) #id,
#include "attr_type.def"
#undef TYPE
};

struct number {
    const char *name;
    long value;
};

static const struct number job_states[] = {
#define JOB_STATE(id, number, letter, word, meaning) {#id, number},
#define JOB_SUBSTATE(id, number, meaning)
#define NODE_STATE(id, bit, word, usable)
#define RESV_STATE(id, letters)
#define SERVER_STATE(id, word)
#include "states.def"
#undef JOB_STATE
#undef JOB_SUBSTATE
};

static const struct number job_letters[] = {
#define JOB_STATE(id, number, letter, word, meaning) {(const char[]){letter, 0}, number},
#define JOB_SUBSTATE(id, number, meaning)
#include "states.def"
#undef JOB_STATE
#undef JOB_SUBSTATE
};

static const struct number job_substates[] = {
#define JOB_STATE(id, number, letter, word, meaning)
#define JOB_SUBSTATE(id, number, meaning) {#id, number},
#include "states.def"
#undef JOB_STATE
#undef JOB_SUBSTATE
#undef NODE_STATE
};

#define JOB_STATE(id, number, letter, word, meaning)
#define JOB_SUBSTATE(id, number, meaning)
static const struct number node_states[] = {
#define NODE_STATE(id, bit, word, usable) {#id, bit},
#include "states.def"
#undef NODE_STATE
};

static const struct number node_words[] = {
#define NODE_STATE(id, bit, word, usable) {word, bit},
#include "states.def"
#undef NODE_STATE
#undef RESV_STATE
};

#define NODE_STATE(id, bit, word, usable)
static const struct number resv_states[] = {
#define RESV_STATE(id, letters) {#id, RESV_##id},
#include "states.def"
#undef RESV_STATE
};

static const struct number resv_letters[] = {
#define RESV_STATE(id, letters) {letters, RESV_##id},
#include "states.def"
#undef RESV_STATE
};

struct error_row {
    const char *name;
    int number;
    const char *text;
};

static const struct error_row error_rows[] = {
#define ERROR(name, text) {#name, PBSE_##name, text},
#include "errors.def"
#undef ERROR
};

#define NUMBER(name)                                                                                         \
    {                                                                                                        \
#name, name                                                                                          \
    }
static const struct number api[] = {
    NUMBER(MGR_CMD_NONE),
    NUMBER(MGR_CMD_CREATE),
    NUMBER(MGR_CMD_DELETE),
    NUMBER(MGR_CMD_SET),
    NUMBER(MGR_CMD_UNSET),
    NUMBER(MGR_CMD_LIST),
    NUMBER(MGR_CMD_PRINT),
    NUMBER(MGR_CMD_ACTIVE),
    NUMBER(MGR_CMD_IMPORT),
    NUMBER(MGR_CMD_EXPORT),
    NUMBER(MGR_CMD_LAST),
    NUMBER(MGR_OBJ_NONE),
    NUMBER(MGR_OBJ_SERVER),
    NUMBER(MGR_OBJ_QUEUE),
    NUMBER(MGR_OBJ_JOB),
    NUMBER(MGR_OBJ_NODE),
    NUMBER(MGR_OBJ_RESV),
    NUMBER(MGR_OBJ_RSC),
    NUMBER(MGR_OBJ_SCHED),
    NUMBER(MGR_OBJ_HOST),
    NUMBER(MGR_OBJ_HOOK),
    NUMBER(MGR_OBJ_PBS_HOOK),
    NUMBER(MGR_OBJ_JOBARRAY_PARENT),
    NUMBER(MGR_OBJ_SUBJOB),
    NUMBER(MGR_OBJ_LAST),
    {"BATCH_OP_SET", SET},
    {"BATCH_OP_UNSET", UNSET},
    {"BATCH_OP_INCR", INCR},
    {"BATCH_OP_DECR", DECR},
    {"BATCH_OP_EQ", EQ},
    {"BATCH_OP_NE", NE},
    {"BATCH_OP_GE", GE},
    {"BATCH_OP_GT", GT},
    {"BATCH_OP_LE", LE},
    {"BATCH_OP_LT", LT},
    {"BATCH_OP_DFLT", DFLT},
    {"BATCH_OP_INTERNAL", INTERNAL},
    {"ATR_VFLAG_USER_READ", RESC_USER_READ},
    {"ATR_VFLAG_USER_WRITE", RESC_USER_WRITE},
    {"ATR_VFLAG_OPER_READ", RESC_OPER_READ},
    {"ATR_VFLAG_OPER_WRITE", RESC_OPER_WRITE},
    {"ATR_VFLAG_MGR_READ", RESC_MGR_READ},
    {"ATR_VFLAG_MGR_WRITE", RESC_MGR_WRITE},
};

#define ROWS(table) (sizeof table / sizeof *table)

static void tables_print_numbers(const char *name, const struct number *rows, size_t n)
{
    printf("\n%s: dict[str, int] = {\n", name);
    for (size_t i = 0; i < n; i++)
        printf("    \"%s\": %ld,\n", rows[i].name, rows[i].value);
    printf("}\n");
}

static void tables_print_attributes(void)
{
    printf("\n# Name: type, least level that may write, flags of enum attr_flag.\n"
           "ATTRIBUTES: dict[str, dict[str, tuple[str, str, int]]] = {\n");
    for (enum attr_of of = 0; of < OF_COUNT; of++) {
        printf("    \"%s\": {\n", attr_def_of_name(of));
        for (int i = 0; i < attr_def_count(of); i++) {
            const struct attr_def *d = attr_def_get(of, i);

            printf("        \"%s\": (\"%s\", \"%s\", 0x%x),\n", d->name, type_names[d->type],
                   level_name(d->write), d->flags);
        }
        printf("    },\n");
    }
    printf("}\n");
}

static int tables_print_resources(void)
{
    struct resource_table *t = resource_table_create();

    if (!t)
        return -1;
    printf("\n# Name: type, flags of enum resource_flag.\nRESOURCES: dict[str, tuple[str, int]] = {\n");
    for (const struct resource *r = NULL; (r = resource_next(t, r));)
        printf("    \"%s\": (\"%s\", 0x%x),\n", r->name, r->type->name, r->flags);
    printf("}\n");
    resource_table_destroy(t);
    return 0;
}

static void tables_print_errors(void)
{
    printf("\n# Name after PBSE_: number, and the text that a client prints for it.\n"
           "ERRORS: dict[str, tuple[int, str]] = {\n");
    for (size_t i = 0; i < ROWS(error_rows); i++) {
        printf("    \"%s\": (%d, \"", error_rows[i].name, error_rows[i].number);
        for (const char *t = error_rows[i].text ? error_rows[i].text : ""; *t; t++)
            printf("%s%c", strchr("\"\\", *t) ? "\\" : "", *t);
        printf("\"),\n");
    }
    printf("}\n");
}

int main(void)
{
    printf(
        "\"\"\"Attributes, resources, states and numbers of the API. Made from ifl/def by the build; not edited.\"\"\"\n");
    tables_print_attributes();
    if (tables_print_resources() < 0) {
        fprintf(stderr, "pbs_tables: no memory\n");
        return 1;
    }
    tables_print_numbers("JOB_STATES", job_states, ROWS(job_states));
    tables_print_numbers("JOB_LETTERS", job_letters, ROWS(job_letters));
    tables_print_numbers("JOB_SUBSTATES", job_substates, ROWS(job_substates));
    tables_print_numbers("NODE_STATES", node_states, ROWS(node_states));
    tables_print_numbers("NODE_WORDS", node_words, ROWS(node_words));
    tables_print_numbers("RESV_STATES", resv_states, ROWS(resv_states));
    tables_print_numbers("RESV_LETTERS", resv_letters, ROWS(resv_letters));
    tables_print_numbers("API", api, ROWS(api));
    tables_print_errors();
    return 0;
}
