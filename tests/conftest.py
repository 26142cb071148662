"""What holds for all tests."""

import signal


def pytest_configure() -> None:
    # Whoever is started in the background may ignore Ctrl-C, and whatever it starts does so, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
