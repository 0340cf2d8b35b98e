# The files of a job, handled with its owner's rights: directories, staging, delivery, images of checkpoints.
$(call storey, mom/shepherd/files, mom/host ifl/rpc base)
$(call tests,  mom/shepherd/files, mom/host ifl/rpc protocol base, -ltirpc -lcrypto)
