"""Every exception of presage: each says what happened, the usual cause and the way out."""

from presage.errors.base import *
from presage.errors.code import *
from presage.errors.files import *
from presage.errors.systems import *
