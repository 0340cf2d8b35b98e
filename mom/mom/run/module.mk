# A run as a state machine, and what each state needs: journal, shepherd, scripts of the site, limits.
$(call storey, mom/mom/run, mom/mom/node mom/host ifl/exec ifl/join ifl/rpc/loop ifl/rpc/tls ifl/rpc ifl/spec ifl/def base/loop base)
$(call tests,  mom/mom/run, mom/mom/node \
  mom/host ifl/exec ifl/join ifl/rpc/loop ifl/rpc/tls ifl/rpc ifl/spec protocol base/loop base, \
  -ltirpc -lhwloc -lssl -lcrypto -lpthread -ldl)
