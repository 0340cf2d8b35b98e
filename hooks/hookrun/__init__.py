"""What runs hook scripts: the worker of a daemon (`worker`), and pbs_python --hook (`desk`). Scripts import `pbs`, never this."""
