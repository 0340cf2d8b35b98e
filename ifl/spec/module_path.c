/* The loader knows where the object with this function came from: its name is empty for the program itself, whose path
 * the kernel tells. */
#include "module_path.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf.h"
#include "file.h"

/* The directory of the object that this function is in. */
static bool find_own_directory(char out[static PATH_MAX], bool *is_program)
{
    struct link_map *map = NULL;
    Dl_info info;
    char *slash;

    if (!dladdr1((const void *)module_path, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return false;
    *is_program = !map->l_name[0];
    if (!realpath(*is_program ? "/proc/self/exe" : map->l_name, out))
        return false;
    slash = strrchr(out, '/');
    if (!slash)
        return false;
    *slash = '\0';
    return true;
}

static const char *module_path_no_environment(const char *name)
{
    return NULL;
}

static bool find_installed(char *out, size_t size, const char *name)
{
    char *text = NULL;
    struct conf *c = NULL;
    bool there = false;

    if (file_read(AT_FDCWD, CONF_PATH, CONF_FILE_MAX, &text, NULL, NULL) == 0)
        c = conf_parse(text, module_path_no_environment, NULL);
    if (c)
        there = snprintf(out, size, "%s/lib/%s", conf_text(c, CONF_PBS_EXEC), name) < (int)size &&
                access(out, R_OK) == 0;
    conf_destroy(c);
    free(text);
    return there;
}

void module_path(char *out, size_t size, const char *name)
{
    char dir[PATH_MAX] = "";
    bool is_program = false;

    if (find_own_directory(dir, &is_program) &&
        snprintf(out, size, "%s/%s%s", dir, is_program ? "../lib/" : "", name) < (int)size &&
        access(out, R_OK) == 0)
        return;
    if (!find_installed(out, size, name))
        (void)snprintf(out, size, "%s/%s%s", dir, is_program ? "../lib/" : "", name);
}
