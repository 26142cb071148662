"""What a worker refuses reaches the driver as it was raised, and is refused there as well."""

import pickle
import time

import pytest

from presage.distribute.shard import ShardTask, ShardWorker
from presage.errors import BadSystem, PresageError
from presage.errors.code import Impure
from presage.process.leaves import ORIGINALS


@pytest.mark.parametrize(
    "error", [Impure("time.time", "clk.py:9"), BadSystem("fact", "cause", "remedy")]
)
def test_an_error_is_the_same_after_a_journey(error: PresageError) -> None:
    back = pickle.loads(pickle.dumps(error))
    assert (type(back), str(back), vars(back)) == (type(error), str(error), vars(error))
    assert back.exit_status == error.exit_status


def test_code_that_a_shard_loads_takes_names_that_are_fenced() -> None:
    taken = []

    def load() -> None:
        taken.append(time.time)
        raise BadSystem("no system")

    fields = dict.fromkeys(ShardTask.__struct_fields__)
    task = ShardTask(**fields | {"load": load, "handler_seconds": 1.0, "folder": "."})
    with pytest.raises(BadSystem, match="no system"):
        ShardWorker(task)
    assert taken != [ORIGINALS[time, "time"]]
    assert time.time is ORIGINALS[time, "time"]
