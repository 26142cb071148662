"""What only some searches need, loaded where one of them begins: delays, roles, what is skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from presage.execution.sandbox import Sandbox
from presage.model.world.system import System
from presage.search.delay.cycles import plan_of
from presage.search.report import Hunted
from presage.search.settings import BY_DELAYS, Settings
from presage.search.threads import Searched

if TYPE_CHECKING:
    from presage.search.alike.roles import Roles
    from presage.search.delay.run import Delaying


def delaying_of(system: System, sandbox: Sandbox, settings: Settings) -> Delaying | None:
    if settings.search not in BY_DELAYS:
        return None
    from presage.search.delay.asked import ServiceTasks
    from presage.search.delay.run import Delaying

    plan = plan_of(system, settings)
    return Delaying(ServiceTasks(system), settings.delay, sandbox.run, plan)


def roles_of(system: System, sandbox: Sandbox, settings: Settings) -> Roles | None:
    if not settings.skip:
        return None
    from presage.search.alike.roles import Roles

    return Roles(system, sandbox.run)


def with_skipped(searched: Searched, roles: Roles | None, *, exact: bool) -> Searched:
    if roles is None:
        return searched
    from presage.search.alike.skipped import skipped_of

    skipped = skipped_of(searched.counts, roles.found, exact=exact)
    return structs.replace(searched, skipped=skipped)


def hunted_of(searched: Searched) -> Hunted | None:
    if searched.counts.hunt is None:
        return None
    from presage.search.hunt.executions import summary

    return summary(searched.counts.hunt)
