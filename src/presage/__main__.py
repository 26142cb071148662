"""`python -m presage` is `presage`."""

import sys

from presage.supervise import main

sys.exit(main())
