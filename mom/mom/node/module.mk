# What this host is: its configuration, its vnodes, what it remembers of itself.
$(call storey, mom/mom/node, mom/host ifl/exec ifl/join ifl/rpc/loop ifl/rpc/tls ifl/rpc ifl/spec ifl/def base/loop base)
$(call tests,  mom/mom/node, \
  mom/host ifl/exec ifl/join ifl/rpc/loop ifl/rpc/tls ifl/rpc ifl/spec protocol base/loop base, \
  -ltirpc -lhwloc -lssl -lcrypto -lpthread -ldl)
