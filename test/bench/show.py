"""How numbers are printed: one line each, with its aim and what OpenPBS reached on two cores."""


def row(what, measured, aim="", openpbs=""):
    aim, openpbs = aim and f"aim {aim:>10}", openpbs and f"OpenPBS {openpbs:>12}"
    print(f"  {what:58} {measured:>12}   {aim:14}   {openpbs}".rstrip(), flush=True)


def note(text):
    print(f"      {text}", flush=True)


def rate(n, seconds):
    return f"{n / seconds:,.0f}/s"


def ms(seconds):
    return f"{seconds * 1000:,.1f} ms"
