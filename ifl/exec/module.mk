# The numbers are for both ends; the service is for the serving end (MOM, simulator).
$(call storey, ifl/exec, ifl/rpc/loop ifl/rpc base/loop base)
$(call tests,  ifl/exec, ifl/rpc/loop ifl/rpc/tls ifl/rpc protocol base/loop base, -ltirpc -lssl -lcrypto -lpthread -ldl)
