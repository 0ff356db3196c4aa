"""`-m "not whole"` leaves out what tools/test does without: most large traces, and questions that take long of one that
others answer too. `make conformance` runs all."""


def pytest_configure(config):
    config.addinivalue_line("markers", "whole: only in `make conformance`, not in each run of all tests")
