"""What the tests stand on: waiting, users, libpbs by ctypes, a private complex, faults."""
