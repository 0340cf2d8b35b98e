$(call storey, mom/terminal, mom/shepherd/files mom/host ifl/rpc base)
$(call program, libexec/pbs_terminal, mom/terminal/main.c, mom/terminal mom/shepherd/files mom/host ifl/rpc protocol base, \
  -ltirpc -lssl -lcrypto -lutil -lpthread)
$(call tests,  mom/terminal, mom/shepherd/files mom/host ifl/rpc protocol base, -ltirpc -lssl -lcrypto -lutil -lpthread)
