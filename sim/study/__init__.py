"""What pbs_sim is made of. `command` lists its steps; files go in, JSON comes out, and pictures are drawn from the JSON.

    readers      swf, accounting, sacct, generate: a list of workload.Job
    site         what the jobs run on and under which rules; variant: the same, changed
    complex      a private server, scheduler and simulator that pass the days of a workload
    records      what the accounting log of such a complex says of each job
    figures      numbers of it; report: table, CSV; page and picture: HTML
"""
