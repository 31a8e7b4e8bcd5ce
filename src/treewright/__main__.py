"""`python -m treewright`."""

import sys

from treewright.cli import main

sys.exit(main())
