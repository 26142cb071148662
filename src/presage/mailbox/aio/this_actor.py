"""What a coroutine says of itself: `await this_actor.sleep_for(1)`."""

from __future__ import annotations

from presage.mailbox import asking
from presage.mailbox.forms import awaited
from presage.mailbox.this_actor import debug as debug
from presage.mailbox.this_actor import error as error
from presage.mailbox.this_actor import exit as exit
from presage.mailbox.this_actor import get_name as get_name
from presage.mailbox.this_actor import info as info
from presage.mailbox.this_actor import warning as warning

sleep_for = awaited(asking.sleep_for)
sleep_until = awaited(asking.sleep_until)
execute = awaited(asking.execute)
yield_ = awaited(asking.yield_)
