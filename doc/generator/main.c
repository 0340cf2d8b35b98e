/* manual PAGE: write a page that is made of tables to standard output. The build runs this program; it is not
 * installed. */
#include <stdio.h>

#include "reference.h"

int main(int argc, char *argv[])
{
    if (argc == 2 && reference_write(stdout, argv[1]) == 0)
        return fflush(stdout) == EOF || ferror(stdout);
    fputs("usage: manual PAGE, one of\n", stderr);
    for (size_t i = 0; reference_page(i); i++)
        fprintf(stderr, "  %s\n", reference_page(i));
    return 2;
}
