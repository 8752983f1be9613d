"""The settings of the summarizer, as an environment gives them."""

import pytest

from app.settings import InvalidSettings, Settings

KEY = "sk-secret"


def test_an_empty_variable_is_as_good_as_none() -> None:
    names = ("URL", "KEY", "MODEL")

    assert Settings.from_mapping({f"FOREWORD_SUMMARIZER_{name}": "" for name in names}) == (
        Settings.from_mapping({})
    )


def test_the_settings_of_a_worker_process_are_those_of_its_parent() -> None:
    given = {"summarizer_url": "http://127.0.0.1:1/v1", "summarizer_key": KEY}
    settings = Settings.from_mapping({}, given)

    environment = {
        f"FOREWORD_{name.upper()}": "" if value is None else str(value)
        for name, value in settings.model_dump(exclude={"database_url"}).items()
    }

    assert Settings.from_mapping(environment) == settings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("summarizer_url", "ftp://a.test"),
        ("summarizer_url", "http://a.test:port"),
        ("summarizer_key", f"{KEY} with spaces"),
        ("summarizer_timeout_seconds", "0"),
        ("summarizer_timeout_seconds", "nan"),
        ("summarizer_pause_seconds", "-1"),
        ("summarizer_sweep_seconds", "0"),
        ("summarizer_concurrency", "0"),
    ],
)
def test_a_value_that_a_setting_cannot_have_is_refused_without_being_told(
    name: str, value: str
) -> None:
    with pytest.raises(InvalidSettings, match=f"^{name}: ") as refused:
        Settings.from_mapping({f"FOREWORD_{name.upper()}": value})

    assert KEY not in str(refused.value)


def test_a_key_is_not_shown() -> None:
    assert KEY not in repr(Settings.from_mapping({"FOREWORD_SUMMARIZER_KEY": KEY}))
