"""What the package cede costs beside the C library."""
import os
import subprocess

from show import note, rate, row

LOAD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python_load.py")


class PythonApi:
    """A part of Bench."""

    def python(self):
        print("Submission from Python (package cede), beside the same in C")
        cx = self.complex(nodes=0, sched=False).start()
        try:
            script, n = cx.script("true"), 4000
            attrs = [f"{name}={value}" for name, _, value in self.items()]
            self.submit_load(cx, 500, script)
            in_c = {}
            for under_way in (1, 64):
                calls, seconds, *_ = self.submit_load(cx, n, script, 1, under_way)
                in_c[under_way] = calls / seconds
                row(f"C, {under_way} under way", rate(calls, seconds))
            for mode, under_way, aim in (("prepared", 1, "80 % of C"), ("whole", 1, ""), ("asyncio", 64, "80 % of C")):
                out = subprocess.run(["pbs_python", LOAD, mode, str(n), script, *attrs], env=cx.env, check=True, capture_output=True, text=True)
                calls, seconds = map(float, out.stdout.split())
                row(f"Python, {mode}", rate(calls, seconds), aim)
                note(f"{100 * calls / seconds / in_c[under_way]:.0f} % of C")
        finally:
            cx.stop()
