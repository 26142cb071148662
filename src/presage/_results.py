"""What the native core gives back; `_results.pyi` says what these are."""

from presage._core import Callers as Callers
from presage._core import CriticalStep as CriticalStep
from presage._core import CycleOutcome as CycleOutcome
from presage._core import Exporter as Exporter
from presage._core import Finding as Finding
from presage._core import HuntOutcome as HuntOutcome
from presage._core import Inspected as Inspected
from presage._core import KernelCoverage as KernelCoverage
from presage._core import KernelEvent as KernelEvent
from presage._core import Outcome as Outcome
from presage._core import Parts as Parts
from presage._core import Progress as Progress
from presage._core import Reachable as Reachable
from presage._core import Reader as Reader
from presage._core import RunFinding as RunFinding
from presage._core import Shard as Shard
from presage._core import Steps as Steps
from presage._core import StopReason as StopReason
from presage._core import Suspect as Suspect
from presage._core import TooManyCuts as TooManyCuts
