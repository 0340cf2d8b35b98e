# The tasks of a job, TM for its programs, and the connection to the MOM.
$(call storey, mom/shepherd/tm, mom/shepherd/files mom/host ifl/rpc base)
$(call tests,  mom/shepherd/tm, mom/shepherd/files mom/host ifl/rpc protocol base, -ltirpc -lcrypto)
