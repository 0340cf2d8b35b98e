"""The rows of the definitions of attributes, and a value for each type."""
import os
import re

FILES = {"route": "queue", "default": "sched"}
DEFINITIONS = os.path.join(os.path.dirname(__file__), "..", "..", "..", "ifl", "def")
ROW = re.compile(r'^ATTR\((\w+), (\w+), (\w+), (\w+), ([\w |]+), (ANY|RANGE\((-?\w+), (-?\w+)\))', re.M)

# What a value of each type looks like.
VALUES = {"ACL": "+anna@*", "BOOLEAN": ("True", "False"), "DURATION": "00:01:07", "FLOAT": "2.5", "FUZZY": "high",
          "LIMIT": "[u:PBS_GENERIC=7]", "DRAIN": "CR", "LONG": "7", "LONG64": "12345678", "SIZE": "7mb", "STRING": "some_words",
          "STRING_ARRAY": "one,two", "RESOURCES": ("ncpus", "7"), "RESOURCE_LIMITS": ("ncpus", "[u:PBS_GENERIC=7]"),
          "PREEMPT_ORDER": "SR", "PREEMPT_PRIO": "express_queue", "PREEMPT_SORT": "fewest_jobs",
          "QDEL_ARGS": "-Wsuppress_email=5", "QUEUE_TYPE": "Execution", "RUN_WAIT": "none", "NODE_STATE": "offline",
          "QUEUE_ORDER": "30"}


def definitions(kind):
    """(name, type, reader, writer, flags, range, lowest, highest) of each row."""
    with open(os.path.join(DEFINITIONS, f"attr_{FILES.get(kind, kind)}.def"), encoding="ascii") as f:
        found = ROW.findall(f.read())
    assert len(found) >= 9  # hooks have the fewest
    return found
