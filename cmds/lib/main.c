/* The same for every command; `command` is defined by cmds/ROOM/NAME.c. */
#include "cmd.h"

int main(int argc, char *argv[])
{
    return cmd_main(&command, argc, argv);
}
