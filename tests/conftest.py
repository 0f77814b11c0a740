"""For every test: generated examples are the same in every run, and no clock judges them."""

from __future__ import annotations

import os

from hypothesis import settings

# Times are for benches: on a busy machine a first import alone can take half a second. The same
# examples each run make a red build a fault of the change, never of chance; HYPOTHESIS_PROFILE=wide
# looks further.
settings.register_profile("house", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("wide", deadline=None, max_examples=1000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "house"))
