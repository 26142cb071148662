"""Constants, classes of errors and null handles, as mpi4py has them."""

from presage.frontends.mpi.core.error_codes import ERROR_CLASSES
from presage.frontends.mpi.core.mistakes import CODE_OTHER, CODES
from presage.frontends.mpi.launch.module import MODULES

MPI = MODULES["mpi4py.MPI"]


def test_classes_of_errors_differ_and_are_those_of_exceptions():
    codes = [getattr(MPI, name) for name in ERROR_CLASSES.split()]
    assert len(set(codes)) == len(codes) and MPI.SUCCESS == 0 and max(codes) < MPI.ERR_LASTCODE
    assert CODES["rma-range"] == MPI.ERR_RMA_RANGE and CODES["missing-epoch"] == MPI.ERR_RMA_SYNC
    assert CODES["file-error"] == MPI.ERR_IO and CODE_OTHER == MPI.ERR_OTHER
    assert MPI.Get_error_string(MPI.ERR_TRUNCATE) == "MPI_ERR_TRUNCATE"


def test_numbers_that_the_standard_wants_to_differ_do():
    for group in ("COMBINER_", "TYPECLASS_", "DISTRIBUTE_", "COMM_TYPE_"):
        found = [value for name, value in vars(MPI).items() if name.startswith(group)]
        assert len(found) > 2 and len(set(found)) == len(found), group


def test_null_handles_are_objects_that_are_false():
    for name in ("INFO_NULL", "ERRHANDLER_NULL", "COMM_NULL", "REQUEST_NULL", "MESSAGE_NULL"):
        handle = getattr(MPI, name)
        assert handle is not None and not handle, name
    assert MPI.ERRORS_RETURN and MPI.ERRORS_RETURN != MPI.ERRORS_ARE_FATAL
    assert MPI.Errhandler(MPI.ERRORS_ABORT) == MPI.ERRORS_ABORT


def test_predefined_types_have_the_sizes_of_their_names():
    for name, size in (("SINT16_T", 2), ("LOGICAL8", 8), ("F_DOUBLE", 8), ("REAL16", 16)):
        assert getattr(MPI, name).Get_size() == size, name
    assert MPI.SIGNED_LONG is MPI.LONG and MPI.REAL2 is MPI.DATATYPE_NULL
