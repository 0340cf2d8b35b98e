"""Test harness: waiting, users, libpbs by ctypes, a private complex, faults.

Not the package `cede` for users, which is in `python/`. Tests may import both.
"""
