"""The rules of OpenWork's world state, section 3.

Where OpenWork's code differs from its document, the behaviour is the code's; the
stored baseline is Foreword's own.
"""

from tests.requirements.rule import Requirement, rules

OPENWORK_WORLD_STATE: tuple[Requirement, ...] = (
    *rules(
        "openwork",
        "§3 World state: sampling",
        (
            "OW-3-changed-section-is-one-message",
            "A section that changed is appended at the end as one user message of kind"
            " `world_state` with one text block; several changed sections are several messages.",
        ),
        (
            "OW-3-unchanged-section-sends-nothing",
            "A section that did not change adds no byte.",
        ),
        (
            "OW-3-four-sections-in-order",
            "The sections are `runtime/user-project-context`, `project/AGENTS.md`,"
            " `skills/catalog`, `runtime/sandbox-policy`, always in this order.",
        ),
        (
            "OW-3-whole-text-every-time",
            "A section that is sent is rendered whole, not as a difference.",
        ),
        (
            "OW-3-message-id",
            "The message id is `world-state:{turn}:{model call}:{sample}:{section}`, and a repeat"
            " of the same sample writes nothing new.",
        ),
        (
            "OW-3-baseline-moves-after-all-writes",
            "The baseline advances only when every fragment was written, and only for sections"
            " that produced one.",
        ),
        (
            "OW-3-failed-write-changes-nothing",
            "Where a write fails nothing is stored and the baseline stays, so the next sample"
            " produces the same messages.",
        ),
        (
            "OW-3-failed-section-fails-the-sample",
            "A section that cannot be read fails the sample with `user_project_context_error`,"
            " `project_instruction_error` or `skill_catalog_task_error`, and no request is made.",
        ),
        (
            "OW-3-replacement-and-removal-notices",
            "Each section has a fixed replacement notice, joined to the text by one blank line,"
            " and a fixed removal notice that stands alone.",
        ),
    ),
    *rules(
        "openwork",
        "§3 World state: the sources",
        (
            "OW-3-project-lists-the-top-level",
            "The project section lists the top level of the repository root, or of the working"
            " directory where no `.git` is found, sorted by name.",
        ),
        (
            "OW-3-project-64-entries",
            "At most 64 entries are listed; the others are one line that counts them.",
        ),
        (
            "OW-3-project-16384-characters",
            "A project section of more than 16 384 characters fails the sample; 16 384 pass.",
        ),
        (
            "OW-3-instructions-one-file",
            "Only the AGENTS.md directly in the working directory is read, and its text is passed"
            " on unchanged inside `<project_instructions>`.",
        ),
        (
            "OW-3-instructions-missing-or-blank",
            "A missing AGENTS.md and one of white space alone make the section absent.",
        ),
        (
            "OW-3-instructions-refused",
            "An AGENTS.md that is a symbolic link, not a regular file, over 65 536 bytes or not"
            " UTF-8 fails the sample.",
        ),
        (
            "OW-3-catalogue-without-disabled-skills",
            "The skill catalogue lists enabled skills only.",
        ),
        (
            "OW-3-catalogue-warnings-stay-outside",
            "Warnings of the skill scan are answered to the caller and never reach the model.",
        ),
        (
            "OW-3-sandbox-four-lines",
            "The sandbox section is four lines made of the session's mode, the workspace and"
            " whether a sandbox is available.",
        ),
    ),
    *rules(
        "openwork",
        "§3 World state: baseline and retained message",
        (
            "OW-3-baseline-none-gone-body",
            "No baseline, no message kept, a text: the text without a notice; baseline known.",
        ),
        (
            "OW-3-baseline-none-gone-absent",
            "No baseline, no message kept, absent: nothing; still no baseline.",
        ),
        (
            "OW-3-baseline-none-kept-body",
            "No baseline, a message kept, a text: replacement notice and text, even where the text"
            " is the one kept; baseline known.",
        ),
        (
            "OW-3-baseline-none-kept-absent",
            "No baseline, a message kept, absent: the removal notice; baseline absent.",
        ),
        (
            "OW-3-baseline-known-kept-same",
            "A known text, its message kept, the same text: nothing.",
        ),
        (
            "OW-3-baseline-known-kept-changed",
            "A known text, its message kept, another text: replacement notice and text.",
        ),
        (
            "OW-3-baseline-known-kept-absent",
            "A known text, its message kept, absent: the removal notice; baseline absent.",
        ),
        (
            "OW-3-baseline-known-gone-body",
            "A known text whose message is gone, any text: the text without a notice.",
        ),
        (
            "OW-3-baseline-known-gone-absent",
            "A known text whose message is gone, absent: nothing; the baseline stays.",
        ),
        (
            "OW-3-baseline-absent-kept-absent",
            "Known absent, a message kept, absent: nothing.",
        ),
        (
            "OW-3-baseline-absent-kept-body",
            "Known absent, a message kept, a text: the text without a notice; baseline known.",
        ),
        (
            "OW-3-baseline-absent-gone-absent",
            "Known absent, no message kept, absent: nothing.",
        ),
        (
            "OW-3-baseline-absent-gone-body",
            "Known absent, no message kept, a text: the text without a notice; baseline known.",
        ),
        (
            "OW-3-retained-by-kind-and-marker",
            "A section is kept while a message of kind `world_state` has a text block that starts"
            " with its tag, starts with its replacement notice and a blank line and its tag, or is"
            " its removal notice.",
        ),
        (
            "OW-3-imitated-tag-does-not-count",
            "A user message with the same text is of kind `normal` and keeps no section.",
        ),
        (
            "OW-3-baseline-is-stored",
            "The baseline is stored with the session, so after a restart an unchanged workspace"
            " sends nothing.",
        ),
    ),
    *rules(
        "openwork",
        "§3 World state: sampling",
        (
            "OW-3-sampled-again-after-compaction",
            "After an automatic compaction inside a turn the sections are sampled again with"
            " sample 2, so the call that follows still carries them.",
        ),
    ),
)
