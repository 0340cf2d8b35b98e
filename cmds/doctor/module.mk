# pbs_doctor: looks at a host and its complex. Of OpenSSL it needs what reads a certificate, of MUNGE what it loads itself.
include cmds/commands.mk
$(call storey, cmds/doctor, cmds/lib ifl/lib ifl/spec ifl/def base, pbs_doctor.c)
$(call program, sbin/pbs_doctor, cmds/lib/main.c cmds/doctor/pbs_doctor.c, cmds/doctor $(CMDS.storeys), \
  $(CMDS.libs) $(CMDS.jansson) -lcrypto)
