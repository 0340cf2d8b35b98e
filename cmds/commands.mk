# How a command is made; each room's module.mk includes this file.
#
# A command is ROOM/NAME.c, linked with the same main.c and, statically, with what libpbs is made of: a command's start
# costs no more libraries than libc. libtirpc is taken from its archive for the same reason (the shared one loads
# Kerberos). Commands are linked without PIE and without what they do not call: fewer pages to touch.
#
# $(call command,ROOM,DIRECTORY UNDER BUILD,NAMES)
CMDS.storeys := cmds/lib ifl/lib ifl/rpc ifl/spec ifl/def protocol base
# The sanitizers know the XDR functions of a shared libtirpc only.
CMDS.libs := $(if $(SANITIZE),-ltirpc,-Wl$(comma)-Bstatic -ltirpc -Wl$(comma)-Bdynamic) -lpthread -ldl
CMDS.jansson := $(if $(SANITIZE),-ljansson,-Wl$(comma)-Bstatic -ljansson -Wl$(comma)-Bdynamic) -lm
command = $(foreach c,$(3),$(call program, $(2)/$(c), cmds/lib/main.c $(1)/$(c).c, $(1) $(CMDS.storeys), -no-pie -Wl$(comma)--gc-sections $(CMDS.libs)))
