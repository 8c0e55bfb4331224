"""Hypothesis profiles: ``ci`` is the same on every run; ``thorough`` looks further.

python -m pytest --hypothesis-profile=thorough
"""

from hypothesis import HealthCheck, settings

_SLOW_MACHINES = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

settings.register_profile("ci", derandomize=True, max_examples=100, database=None, **_SLOW_MACHINES)
settings.register_profile("thorough", max_examples=5000, print_blob=True, **_SLOW_MACHINES)
settings.load_profile("ci")
