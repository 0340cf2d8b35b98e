# Hooks of this host: their files, their workers, and the events of runs and of the host.
$(call storey, mom/mom/hook, mom/mom/run mom/mom/node mom/host ifl/hook/loop ifl/hook ifl/exec ifl/join ifl/rpc/loop ifl/rpc/tls ifl/rpc ifl/spec ifl/def base/loop base)
