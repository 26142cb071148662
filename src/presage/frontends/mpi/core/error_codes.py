"""Classes and codes of errors: those of the standard, and those that scripts add."""

from __future__ import annotations

from presage.process.context import current, is_running

ERROR_CLASSES = (
    "SUCCESS ERR_BUFFER ERR_COUNT ERR_TYPE ERR_TAG ERR_COMM ERR_RANK ERR_REQUEST ERR_ROOT ERR_GROUP"
    " ERR_OP ERR_TOPOLOGY ERR_DIMS ERR_ARG ERR_UNKNOWN ERR_TRUNCATE ERR_OTHER ERR_INTERN"
    " ERR_IN_STATUS ERR_PENDING ERR_ACCESS ERR_AMODE ERR_BAD_FILE ERR_CONVERSION ERR_DUP_DATAREP"
    " ERR_FILE_EXISTS ERR_FILE_IN_USE ERR_FILE ERR_INFO ERR_INFO_KEY ERR_INFO_VALUE ERR_INFO_NOKEY"
    " ERR_IO ERR_NAME ERR_NO_MEM ERR_NOT_SAME ERR_NO_SPACE ERR_NO_SUCH_FILE ERR_PORT ERR_QUOTA"
    " ERR_READ_ONLY ERR_SERVICE ERR_SPAWN ERR_UNSUPPORTED_DATAREP ERR_UNSUPPORTED_OPERATION ERR_WIN"
    " ERR_BASE ERR_LOCKTYPE ERR_KEYVAL ERR_RMA_CONFLICT ERR_RMA_SYNC ERR_SIZE ERR_DISP ERR_ASSERT"
    " ERR_ERRHANDLER ERR_RMA_RANGE ERR_RMA_ATTACH ERR_RMA_SHARED ERR_RMA_FLAVOR ERR_SESSION"
    " ERR_PROC_ABORTED ERR_VALUE_TOO_LARGE ERR_REVOKED ERR_PROC_FAILED ERR_PROC_FAILED_PENDING"
    " ERR_ABI"
)
CODES = {name: code for code, name in enumerate(ERROR_CLASSES.split())}
NAMES = {code: name for name, code in CODES.items()}
LASTCODE = 0x3FFFFFFF
NOTE = "mpi errors"


class Added:
    """What a rank has added, by code: its class, and its text."""

    def __init__(self) -> None:
        self.classes: dict[int, int] = {}
        self.texts: dict[int, str] = {}
        self.last = LASTCODE


def added() -> Added:
    if not is_running():
        return Added()
    found: Added = current().notes.setdefault(NOTE, Added())
    return found


def add_class() -> int:
    """`MPI.Add_error_class`."""
    known = added()
    known.last += 1
    known.classes[known.last] = known.last
    return known.last


def add_code(errorclass: int) -> int:
    """`MPI.Add_error_code`."""
    known = added()
    known.last += 1
    known.classes[known.last] = errorclass
    return known.last


def is_known(code: int) -> bool:
    return code in NAMES or code in added().classes


def class_of(code: int) -> int:
    """`MPI.Get_error_class`."""
    return added().classes.get(code, code)


def text_of(code: int) -> str:
    """`MPI.Get_error_string`: the name of its class, unless the script has given it a text."""
    known = added()
    if code in known.texts or code in known.classes:
        return known.texts.get(code, "")
    return f"MPI_{NAMES[code]}" if code in NAMES else f"error {code}"
