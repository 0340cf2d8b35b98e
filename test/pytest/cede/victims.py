"""Jobs of a preemption: one that takes its time to give way, and an urgent one."""

# Whose lock is taken by a process of another run of the same job is running twice.
VICTIM = """
echo $$ > "pid.$PBS_JOBID"
exec 9> "lock.$PBS_JOBID"; flock -n 9 || echo "$PBS_JOBID" >> twice
trap 'echo "$PBS_JOBID" >> asked; until test -e let_go; do sleep 0.02; done; exit 143' TERM
echo "$PBS_JOBID" >> begun
until test -e go || test -e "go.$PBS_JOBID"; do sleep 0.05; done
"""
URGENT = 'echo "$PBS_JOBID" >> begun; until test -e go; do sleep 0.05; done'
