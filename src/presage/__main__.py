"""`python -m presage` is `presage`."""

import sys

from presage.cli import main

sys.exit(main())
