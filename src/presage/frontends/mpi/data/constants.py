"""Numbers of MPI that scripts name: classes of errors, limits, kinds of types, keys of attributes.

Which number each is, an implementation of MPI chooses; scripts may rely only on their being
different where the standard says so. Those that change what a call does are defined beside it.
"""

from __future__ import annotations

from presage.frontends.mpi.core.error_codes import CODES, LASTCODE

COMBINERS = (
    "NAMED DUP CONTIGUOUS VECTOR HVECTOR INDEXED HINDEXED INDEXED_BLOCK HINDEXED_BLOCK STRUCT"
    " SUBARRAY DARRAY RESIZED VALUE_INDEX F90_INTEGER F90_REAL F90_COMPLEX"
)
KEYS = "IO WTIME_IS_GLOBAL UNIVERSE_SIZE LASTUSEDCODE"  # of attributes that nobody has set
FIRST_KEY = 1_000_001  # beyond those that scripts create

NUMBERS = {
    **CODES,
    **{f"COMBINER_{name}": at for at, name in enumerate(COMBINERS.split(), 1)},
    **{name: at for at, name in enumerate(KEYS.split(), FIRST_KEY)},
    "ERR_LASTCODE": LASTCODE,
    "KEYVAL_INVALID": -1,
    "UNWEIGHTED": 1,
    "WEIGHTS_EMPTY": 2,
    "ORDER_C": 56,
    "ORDER_FORTRAN": 57,
    "ORDER_F": 57,
    "TYPECLASS_LOGICAL": 4,
    "TYPECLASS_REAL": 1,
    "TYPECLASS_INTEGER": 2,
    "TYPECLASS_COMPLEX": 3,
    "DISTRIBUTE_BLOCK": 121,
    "DISTRIBUTE_CYCLIC": 122,
    "DISTRIBUTE_NONE": 123,
    "DISTRIBUTE_DFLT_DARG": -49767,
    "F_SOURCE": 0,
    "F_TAG": 1,
    "F_ERROR": 2,
    "F_STATUS_SIZE": 5,
    "COMM_TYPE_HW_GUIDED": 2,
    "COMM_TYPE_HW_UNGUIDED": 3,
    "COMM_TYPE_RESOURCE_GUIDED": 4,
    "MAX_PROCESSOR_NAME": 256,
    "MAX_ERROR_STRING": 256,
    "MAX_PORT_NAME": 256,
    "MAX_INFO_KEY": 255,
    "MAX_INFO_VAL": 1024,
    "MAX_OBJECT_NAME": 128,
    "MAX_DATAREP_STRING": 128,
    "MAX_LIBRARY_VERSION_STRING": 8192,
    "MAX_PSET_NAME_LEN": 1024,
    "MAX_STRINGTAG_LEN": 1024,
    "DISPLACEMENT_CURRENT": -54278278,
    "DISP_CUR": -54278278,
    "BSEND_OVERHEAD": 64,
}
