from hypothesis import HealthCheck, settings

settings.register_profile(
    "foreword",
    print_blob=True,
    derandomize=False,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],  # It fails on a busy machine, not on a fault.
)
settings.load_profile("foreword")
