$(call storey, ifl/join, ifl/rpc/tls ifl/rpc ifl/spec protocol base)
