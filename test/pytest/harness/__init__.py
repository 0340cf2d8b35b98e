"""Test harness: waiting, users, libpbs as tests call it, a private complex, faults.

Not the package `cede` for users, which is in `python/`: `api.py` is made of its structures and signatures.
"""
