"""`python -m urnscan` is the command."""

import sys

from urnscan.cli import main

sys.exit(main())
