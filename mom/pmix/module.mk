# pbs_pmix: the PMIx server of one job on one host. The only program that libpmix is linked to.
PMIX.libs := $(shell pkg-config --libs pmix hwloc jansson 2>/dev/null)
CPPFLAGS.mom/pmix := $(call have,pmix,--cflags) $(call have,hwloc,--cflags)
$(call storey,  mom/pmix, ifl/rpc base)
$(call tests,   mom/pmix, ifl/rpc protocol base, -ltirpc $(PMIX.libs))
$(call program, libexec/pbs_pmix, mom/pmix/main.c, mom/pmix ifl/rpc protocol base, -ltirpc $(PMIX.libs) -lpthread)
