/* Two sources: the texts for topics below, and the definition tables for attributes, which cannot be out of date. A
 * topic wins over an attribute when there is one word, and may be abbreviated. */
#include "qmgr_help.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "attr_def.h"
#include "value.h"

static const struct {
    const char *topic, *text;
} texts[] = {
    {"active",
     "active object [name[,name...]]\n  Lines without a name are about these objects from now on. Without "
     "names: show them.\n"},
    {"create",
     "create object name[,name...] [attribute = value[,attribute = value...]]\n  Make a queue, node, "
     "resource, sched or hook.\n"},
    {"delete", "delete object name[,name...]\n  Remove it. @default as the name: every one of the server.\n"},
    {"set",
     "set object [name[,name...]] attribute[.resource] OP value[,attribute OP value...]\n  Change attributes. "
     "See operators, values.\n"},
    {"unset",
     "unset object [name[,name...]] attribute[.resource][,attribute...]\n  Set the default again.\n"},
    {"list",
     "list object [name[,name...]] [attribute[,attribute...]]\n  Show objects with their attributes.\n"},
    {"print",
     "print object [name[,name...]] [attribute[,attribute...]]\n  Show objects as lines that qmgr can read "
     "again. print server: resources, queues and the server.\n"},
    {"import", "import hook name application/x-python default|base64 file\n  Give a hook its contents.\n"},
    {"export", "export hook name application/x-python default|base64 [file]\n  Show a hook's contents.\n"},
    {"diff",
     "diff file\n  What would have to change so that the server is as the file says; 1 if anything. The file holds lines "
     "that create, set, unset and delete; what it creates is described whole, of the rest only what is named "
     "changes. - is standard input.\n"},
    {"apply",
     "apply file\n  Change the server accordingly: the file is checked whole first, and all is done or nothing.\n"},
    {"history", "history [n]\n  The last n lines; !n does line n again.\n"},
    {"quit", "quit, exit\n  Leave.\n"},
    {"commands",
     "active apply create delete diff exit export help history import list print quit set unset\n  Any of them may be "
     "abbreviated: \"p s\" is \"print server\".\n"},
    {"attributes",
     "What an object has: \"list OBJECT\" shows those that are set, \"help OBJECT\" all there are, \"help NAME\" what "
     "one means. Resources follow a dot: resources_max.ncpus.\n"},
    {"operators",
     "=   set the value\n+=  add to the value, or to the list\n-=  take from the value, or from the "
     "list\n"},
    {"names",
     "server, queue, node, sched, hook, resource: name[@server]. Several with commas.\n  @default: every "
     "object of the default server.\n"},
    {"values",
     "Text in ' or \" when it holds commas or quotes. Sizes: 10gb. Times: HH:MM:SS or seconds. Booleans: "
     "True, False.\n"},
};

/* --- attributes, from the tables ---------------------------------------------------------------------------- */

static const enum attr_of kinds[] = {OF_SERVER, OF_QUEUE, OF_NODE, OF_SCHED, OF_HOOK, OF_RESOURCE};
enum { KINDS = sizeof kinds / sizeof kinds[0], PAGE = 100 };

enum group { ALL, PUBLIC, EXEC_ONLY, ROUTE_ONLY, READ_ONLY };

/* PBS's topics for parts of the attributes of a kind. */
static const struct {
    const char *topic;
    enum attr_of of;
    enum group group;
} groups[] = {
    {"serverpublic", OF_SERVER, PUBLIC},  {"serverro", OF_SERVER, READ_ONLY},
    {"queuepublic", OF_QUEUE, PUBLIC},    {"queueexec", OF_QUEUE, EXEC_ONLY},
    {"queueroute", OF_QUEUE, ROUTE_ONLY}, {"queuero", OF_QUEUE, READ_ONLY},
    {"nodeattr", OF_NODE, ALL},
};

static bool is_in(const struct attr_def *d, enum group g)
{
    bool read_only = d->write > LEVEL_MANAGER;

    switch (g) {
    case ALL:
        return true;
    case PUBLIC:
        return !read_only && !(d->flags & (AF_EXEC | AF_ROUTING));
    case EXEC_ONLY:
        return !read_only && d->flags & AF_EXEC;
    case ROUTE_ONLY:
        return !read_only && d->flags & AF_ROUTING;
    case READ_ONLY:
        return read_only;
    }
    return false;
}

/* Print all names of a kind that are of the group, in lines of a page's width. */
static void show_names(FILE *f, enum attr_of of, enum group g)
{
    size_t column = 0;

    fprintf(f, "attributes of a %s:\n", attr_def_of_name(of));
    for (int i = 0; i < attr_def_count(of); i++) {
        const char *name = attr_def_get(of, i)->name;

        if (!is_in(attr_def_get(of, i), g))
            continue;
        if (column + strlen(name) + 1 > PAGE) {
            putc('\n', f);
            column = 0;
        }
        column += (size_t)fprintf(f, "%s%s", column ? " " : "  ", name);
    }
    fputs("\n", f);
}

static void show_range(FILE *f, const struct attr_def *d)
{
    if (d->min > INT32_MIN && d->max < INT32_MAX)
        fprintf(f, "  From %" PRId64 " to %" PRId64 ".\n", d->min, d->max);
    else if (d->min > INT32_MIN)
        fprintf(f, "  Not below %" PRId64 ".\n", d->min);
}

static void show_attribute(FILE *f, enum attr_of of, const struct attr_def *d)
{
    const struct value_type *t = attr_def_type(d);

    fprintf(f, "%s %s (%s)\n  %s.\n", attr_def_of_name(of), d->name, t->name, d->meaning);
    if (d->flags & AF_UNUSED)
        fprintf(f, "  Kept and shown, but nothing acts on it.\n");
    if (t->form)
        fprintf(f, strncmp(t->form, "must ", 5) == 0 ? "  A value %s.\n" : "  Value: %s.\n", t->form);
    show_range(f, d);
    if (d->dflt && *d->dflt)
        fprintf(f, "  Default: %s.\n", d->dflt);
    fprintf(f, "  Set by: %s%s.\n", level_name(d->write), d->write < LEVEL_MANAGER ? " and above" : "");
}

/* "help queue", "help queue max_run", "help max_run"; false: the words are neither. */
static bool show_from_tables(FILE *f, const char *first, const char *second)
{
    bool found = false;

    for (size_t i = 0; i < KINDS; i++) {
        bool is_kind = strcasecmp(first, attr_def_of_name(kinds[i])) == 0;
        int index = attr_def_find(kinds[i], is_kind ? second : first);

        if (is_kind && !*second)
            show_names(f, kinds[i], ALL);
        else if (index != ATTR_NONE && (is_kind || !*second))
            show_attribute(f, kinds[i], attr_def_get(kinds[i], index));
        else
            continue;
        found = true;
    }
    return found;
}

static bool show_group(FILE *f, const char *topic)
{
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        if (strcasecmp(groups[i].topic, topic) == 0) {
            show_names(f, groups[i].of, groups[i].group);
            return true;
        }
    return false;
}

static const char *topic_text(const char *word)
{
    for (size_t i = 0; *word && i < sizeof texts / sizeof texts[0]; i++)
        if (strncasecmp(texts[i].topic, word, strlen(word)) == 0)
            return texts[i].text;
    return NULL;
}

void qmgr_help(FILE *f, const char *topic)
{
    char first[64] = "", second[64] = "";
    const char *text;

    sscanf(topic, "%63s %63s", first, second);
    text = *second ? NULL : topic_text(first);
    if (text) {
        fputs(text, f);
        return;
    }
    if (*first && (show_from_tables(f, first, second) || (!*second && show_group(f, first))))
        return;
    fputs(
        "General syntax: command [object] [names] [attributes]\n\nTo get help on a topic, type help <topic>.\n"
        "A topic may be an attribute, or an object and an attribute: help queue max_run.\n"
        "Help is available on:\n",
        f);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        fprintf(f, "%s%s", texts[i].topic, i + 1 < sizeof texts / sizeof texts[0] ? " " : "\n");
}
