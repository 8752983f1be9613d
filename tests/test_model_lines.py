"""The table of where compaction starts, computed from the packaged catalogue and the presets."""

from app.catalogue.lookup import entry_of
from app.catalogue.spellings import spellings
from app.core.model_profile import ModelProfile
from app.model_catalogue import packaged_catalogue
from app.policies.presets import PRESETS
from tests.markdown import quoted, read_page, section, table_rows

MODELS = 12


def profile_of(name: str) -> ModelProfile:
    catalogue = packaged_catalogue()
    found = (entry_of(catalogue, spelling) for spelling in spellings(name))
    return next(entry.profile(name) for entry in found if entry is not None)


def shown(tokens: int | None) -> str:
    return "none" if tokens is None else f"{tokens:,}".replace(",", " ")


def computed(name: str) -> list[str]:
    profile = profile_of(name)
    output = profile.max_output_tokens
    starts = {
        preset: policy.limits(profile, output or 0).compact_at_input_tokens
        for preset, policy in PRESETS.items()
    }
    return [f"`{name}`", shown(profile.context_window), shown(output), *map(shown, starts.values())]


def test_the_policies_page_says_where_each_preset_starts_to_compact_real_models() -> None:
    text = section(read_page("policies.md"), "Real models")
    rows = [list(row) for row in table_rows(text)]
    names = [quoted(row[0])[0] for row in rows]

    assert len(set(names)) == MODELS
    assert rows == [computed(name) for name in names], "\n".join(
        f"| {' | '.join(computed(name))} |" for name in names
    )
    assert [f"`{preset}`" for preset in PRESETS] == [
        cell.strip() for cell in text.partition("\n|")[2].split("\n")[0].split("|")[3:-1]
    ]
