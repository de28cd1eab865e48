"""The command `urnscan`, as `python -m urnscan`."""

import sys

from urnscan.cli import main

sys.exit(main())
