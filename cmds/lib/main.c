/* The same for every command; the command itself is `command` of cmds/NAME.c. */
#include "cmd.h"

int main(int argc, char *argv[])
{
    return cmd_main(&command, argc, argv);
}
