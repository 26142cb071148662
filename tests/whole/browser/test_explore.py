"""`presage explore`: the page on a live system, and who may ask for it."""

import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest
from unit.ui.samples import CHEATING
from whole.browser.waiting import wait_until

from presage.cli import main
from presage.cli.report import exploring
from presage.cli.target.load import load


def wait_for_steps(page, count):
    """Until the page shows so many states; a step loads it anew, and its script comes late."""
    loaded = "typeof presage !== 'undefined'"
    wait_until(page, f"{loaded} && presage.data.main.steps.length === {count}")


@contextmanager
def served(target="two_phase_commit", **settings):
    with exploring(load(target, settings).system, 0, None) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def asked(address, data=None, **headers):
    request = urllib.request.Request(address, data, headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_only_who_knows_the_address_is_answered():
    with served() as server:
        assert server.address.startswith("http://127.0.0.1:")
        assert asked(server.address)[0] == 200
        root = server.address.replace(server.token, "guess")
        assert asked(root)[0] == asked(root + "take", b"n=0")[0] == 403
        assert asked(server.address, Host="evil.example")[0] == 403
        assert asked(server.address + "other")[0] == 404
        for path, form in (("take", b"n=99"), ("take", b"n=-1"), ("go", b"x"), ("no", b"n=0")):
            assert asked(server.address + path, form)[0] == 400
        assert asked(server.address + "take", b"n=0" * 1000)[0] == 400
        assert len(server.explorer.places) == 1


def cheating(server):
    """Which of the options here is the action that ends up at the clock."""
    [found] = [k for k, each in enumerate(server.explorer.options) if "cheat" in str(each)]
    return found


def test_what_a_system_may_not_do_is_said_and_one_can_go_on(tmp_path):
    (tmp_path / "stubborn.py").write_text(CHEATING)
    with served(f"{tmp_path}/stubborn.py") as server:
        take = server.address + "take"
        assert asked(take, f"n={cheating(server)}".encode())[0] == 200
        refused = cheating(server)
        assert "time.time" in str(server.explorer.options[refused])
        status, text = asked(take, f"n={refused}".encode())
        assert status == 500 and "time.time" in text
        assert asked(server.address)[0] == 200
        assert len(server.explorer.places) == 2


def test_the_command_serves_until_it_is_interrupted():
    command = [sys.executable, "-m", "presage", "explore", "ping_pong"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        address = process.stderr.readline().split()[-1]
        assert asked(address)[0] == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0


MPI_RACE = """
from mpi4py import MPI
comm = MPI.COMM_WORLD
if comm.rank == 0:
    first = comm.recv(source=MPI.ANY_SOURCE)
    comm.recv(source=MPI.ANY_SOURCE)
    assert first == 1
else:
    comm.send(comm.rank, dest=0)
"""


def test_the_ranks_of_a_script_are_stepped_through_by_clicks(browser, tmp_path):
    (tmp_path / "race.py").write_text(MPI_RACE)
    command = [sys.executable, "-m", "presage", "explore", "race.py", "--mpi", "3"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        try:
            page = browser.new_page()
            page.goto(process.stderr.readline().split()[-1])
            for taken in range(40):
                wait_for_steps(page, taken + 1)
                ways = page.locator("form[action=take] button")
                if not ways.count():
                    break
                ways.last.click()  # so that rank 2 is first
            assert "AssertionError" in page.locator("body").inner_text()
            page.close()
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0


def test_a_step_is_taken_by_a_click_and_one_can_go_back_and_take_another(browser):
    problems = []
    with served() as server:
        page = browser.new_page()
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(server.address)
        assert "what can happen next" in page.locator("#side").inner_text()
        first = page.locator("form[action=take] button").first.inner_text()
        page.locator("form[action=take] button").first.click()
        wait_for_steps(page, 2)
        assert page.locator("#step-1").get_attribute("aria-selected") == "true"
        page.keyboard.press("k")
        page.get_by_role("button", name="go back here").click()
        wait_for_steps(page, 1)
        assert page.locator("form[action=go] button").count() == 1
        assert page.locator("form[action=take] button").first.inner_text() == first
        page.locator("form[action=take] button").nth(1).click()
        wait_for_steps(page, 2)
        assert len(server.explorer.places) == 3
        page.close()
    assert problems == []


@pytest.mark.parametrize("port", ["-1", "65536"])
def test_a_port_is_a_port(port, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["explore", "two_phase_commit", "--port", port])
    assert ended.value.code == 2 and "is not between 0 and 65535" in capsys.readouterr().err
