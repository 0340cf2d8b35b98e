# pbs_doctor: looks at a host and its complex. Of OpenSSL it needs what reads a certificate, of MUNGE what it loads itself.
DOCTOR.storeys := cmds ifl/lib ifl/rpc ifl/spec ifl/def protocol base
$(call storey, cmds/doctor, cmds ifl/lib ifl/spec ifl/def base, pbs_doctor.c)
$(call program, sbin/pbs_doctor, cmds/main.c cmds/doctor/pbs_doctor.c, cmds/doctor $(DOCTOR.storeys), \
  -ltirpc -ljansson -lcrypto -lpthread -ldl -lm)
