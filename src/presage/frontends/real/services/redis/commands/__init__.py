"""What each command does: functions of a session and its arguments, in the table `COMMANDS`."""

from presage.frontends.real.services.redis.commands import blocking as blocking
from presage.frontends.real.services.redis.commands import clients as clients
from presage.frontends.real.services.redis.commands import connection as connection
from presage.frontends.real.services.redis.commands import expiring as expiring
from presage.frontends.real.services.redis.commands import hashes as hashes
from presage.frontends.real.services.redis.commands import keys as keys
from presage.frontends.real.services.redis.commands import lists as lists
from presage.frontends.real.services.redis.commands import publishing as publishing
from presage.frontends.real.services.redis.commands import scanning as scanning
from presage.frontends.real.services.redis.commands import scripting as scripting
from presage.frontends.real.services.redis.commands import server as server
from presage.frontends.real.services.redis.commands import sets as sets
from presage.frontends.real.services.redis.commands import sortedranges as sortedranges
from presage.frontends.real.services.redis.commands import sortedsets as sortedsets
from presage.frontends.real.services.redis.commands import strings as strings
from presage.frontends.real.services.redis.commands import transactions as transactions
