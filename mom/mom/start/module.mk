# From START to the job's first process.
$(call storey, mom/mom/start, mom/mom/ckpt mom/mom/sis mom/mom/run mom/mom/node mom/host ifl/exec ifl/join ifl/rpc/loop ifl/rpc/tls ifl/rpc ifl/spec ifl/def base/loop base)
$(call tests,  mom/mom/start, mom/mom/ckpt mom/mom/sis mom/mom/run mom/mom/node \
  mom/host ifl/exec ifl/join ifl/rpc/loop ifl/rpc/tls ifl/rpc ifl/spec protocol base/loop base, \
  -ltirpc -lhwloc -lssl -lcrypto -lpthread -ldl)
