# ifl/def: attr_node.def, as data.
$(call storey, mom/mom, mom/host ifl/exec ifl/join ifl/rpc/loop ifl/rpc/tls ifl/rpc ifl/spec ifl/def base/loop base)
$(call program, sbin/pbs_mom, mom/mom/main.c, \
  mom/mom mom/host ifl/exec ifl/join ifl/rpc/loop ifl/rpc/tls ifl/rpc ifl/spec protocol base/loop base, \
  -ltirpc -lhwloc -levent_core -levent_openssl -levent_pthreads -lssl -lcrypto -lpthread -ldl)
$(call tests,  mom/mom, mom/host ifl/exec ifl/join ifl/rpc/loop ifl/rpc/tls ifl/rpc ifl/spec protocol base/loop base, \
  -ltirpc -lhwloc -levent_core -levent_openssl -levent_pthreads -lssl -lcrypto -lpthread -ldl)
