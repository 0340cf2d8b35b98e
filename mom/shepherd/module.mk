# pbs_shepherd: supervises the processes of one job.
$(call storey, mom/shepherd, mom/shepherd/tm mom/shepherd/files mom/host ifl/rpc base)
$(call tests,  mom/shepherd, mom/shepherd/tm mom/shepherd/files mom/host ifl/rpc protocol base, -ltirpc -lcrypto)

# Linked statically, since one is started for each job: the dynamic linker would cost more than the rest.
$(call program, libexec/pbs_shepherd, mom/shepherd/main.c, \
  mom/shepherd mom/shepherd/tm mom/shepherd/files mom/host ifl/rpc protocol base, \
  -ltirpc -lcrypto $(if $(SANITIZE),,-static) -lpthread)
