from hypothesis import settings

settings.register_profile(
    "foreword", print_blob=True, derandomize=False, deadline=None, max_examples=75
)
settings.load_profile("foreword")
