# Rooms from the top down: link, end, start, ckpt, sis, run, node.
$(call storey, mom/mom, mom/mom/link mom/mom/end mom/mom/start mom/mom/ckpt mom/mom/hook mom/mom/sis mom/mom/run mom/mom/node \
  mom/host ifl/hook/loop ifl/hook ifl/exec ifl/join ifl/rpc/loop ifl/rpc/tls ifl/rpc ifl/spec ifl/def base/loop base)
$(call program, sbin/pbs_mom, mom/mom/main.c, mom/mom mom/mom/link mom/mom/end mom/mom/start mom/mom/ckpt mom/mom/hook mom/mom/sis mom/mom/run mom/mom/node \
  mom/host ifl/hook/loop ifl/hook ifl/exec ifl/join ifl/rpc/loop ifl/rpc/tls ifl/rpc ifl/spec protocol base/loop base, \
  -ltirpc -ljansson -lhwloc -lssl -lcrypto -lpthread -ldl)
