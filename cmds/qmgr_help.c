/* The texts of qmgr's help. See qmgr_help.h. */
#include "qmgr_help.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *topic, *text;
} texts[] = {
    {"active",
     "active object [name[,name...]]\n  Lines without a name are about these objects from now on. Without "
     "names: which they are.\n"},
    {"create",
     "create object name[,name...] [attribute = value[,attribute = value...]]\n  Make a queue, node, "
     "resource, sched or hook.\n"},
    {"delete", "delete object name[,name...]\n  Remove it. @default as the name: every one of the server.\n"},
    {"set",
     "set object [name[,name...]] attribute[.resource] OP value[,attribute OP value...]\n  Change attributes. "
     "See operators, values.\n"},
    {"unset",
     "unset object [name[,name...]] attribute[.resource][,attribute...]\n  Back to what holds when nothing "
     "is said.\n"},
    {"list",
     "list object [name[,name...]] [attribute[,attribute...]]\n  Show objects with their attributes.\n"},
    {"print",
     "print object [name[,name...]] [attribute[,attribute...]]\n  Show objects as lines that qmgr can read "
     "again. print server: resources, queues and the server.\n"},
    {"import", "import hook name application/x-python default|base64 file\n  Give a hook its contents.\n"},
    {"export", "export hook name application/x-python default|base64 [file]\n  Show a hook's contents.\n"},
    {"history", "history [n]\n  The last n lines; !n does line n again.\n"},
    {"quit", "quit, exit\n  Leave.\n"},
    {"commands",
     "active create delete exit export help history import list print quit set unset\n  Any of them may be "
     "cut short: \"p s\" is \"print server\".\n"},
    {"attributes",
     "What an object has: \"list OBJECT\" shows those that are set. Resources stand behind a dot: "
     "resources_max.ncpus.\n  serverpublic serverro queuepublic queueexec queueroute queuero nodeattr: "
     "see pbs_server_attributes(7B), pbs_queue_attributes(7B), pbs_node_attributes(7B).\n"},
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

void qmgr_help(FILE *f, const char *topic)
{
    size_t n = strcspn(topic, " \t\r\n"), i;

    for (i = 0; n && i < sizeof texts / sizeof texts[0]; i++)
        if (!strncasecmp(texts[i].topic, topic, n)) {
            fputs(texts[i].text, f);
            return;
        }
    fputs(
        "General syntax: command [object] [names] [attributes]\n\nTo get help on a topic, type help <topic>.\n"
        "Help is available on:\n",
        f);
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++)
        fprintf(f, "%s%s", texts[i].topic, i + 1 < sizeof texts / sizeof texts[0] ? " " : "\n");
}
