# A run while its job runs, and each way to its end.
$(call storey, mom/mom/end, mom/mom/start mom/mom/ckpt mom/mom/hook mom/mom/sis mom/mom/run mom/mom/node mom/host ifl/hook/loop ifl/hook ifl/exec ifl/join ifl/rpc/loop ifl/rpc/tls ifl/rpc ifl/spec ifl/def base/loop base)
$(call tests,  mom/mom/end, mom/mom/start mom/mom/ckpt mom/mom/hook mom/mom/sis mom/mom/run mom/mom/node \
  mom/host ifl/hook/loop ifl/hook ifl/exec ifl/join ifl/rpc/loop ifl/rpc/tls ifl/rpc ifl/spec protocol base/loop base, \
  -ltirpc -ljansson -lhwloc -lssl -lcrypto -lpthread -ldl)
