# For pbs_mom and pbs_shepherd both: nothing here knows the loop.
$(call storey, mom/host, ifl/rpc base)
$(call tests,  mom/host, ifl/rpc protocol base, -ltirpc)
