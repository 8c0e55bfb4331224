"""``python -m germane`` is the command ``germane``."""

from germane.cli import main

raise SystemExit(main())
