"""For all tests: examples take as long as they take; a busy machine is no reason to fail; nothing of yours is used."""

import atexit
import os
import shutil
import tempfile

from hypothesis import settings

os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp(prefix="topiarist-tests-")  # what tests grant is granted to tests
atexit.register(shutil.rmtree, os.environ["XDG_DATA_HOME"], ignore_errors=True)

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
