"""The vectors and field reports that each have a test named after them."""

VECTORS: tuple[str, ...] = (
    *("B1", "B2", "B3", "B5", "B6", "B7", "B9", "B10", "B11"),
    *("L1", "L2", "L3", "L5", "L6", "L7", "L9", "L10", "L11"),
    *("I2", "I3", "I4", "I6"),
    *("P1", "P2", "P4", "P5", "P6", "P8", "P9", "P10"),
    *("J1", "J2", "J4", "J5", "J6", "J8", "J9", "J10", "J12", "J13", "J14", "J16", "J17", "J18"),
    *("N2", "N3", "N4", "N6", "N7", "N8", "N10", "N11", "N12", "N14", "N15"),
    *("E1", "E3", "E4", "E5", "E7", "E8", "E9", "E11", "E12", "E13"),
    *("S1", "S2", "S3", "S5", "S6", "S7", "S9", "S10", "S11", "S13", "S14", "S15", "S17"),
    *("S18", "S19", "S20", "S21", "S22", "S23", "S24", "S25", "S26", "S27", "S28", "S29"),
    *("S30", "S31", "S33", "S34", "S35", "S37", "S38", "S39", "S41", "S42", "S43", "S45"),
    *("S46", "S47"),
    *("C2", "C4", "C5", "C6", "C7", "C9", "C10", "C13", "C14"),
    *("K1", "K3", "K4", "K5", "K7", "K8", "K9", "K11", "K12", "K13", "K15", "K16", "K17"),
    *("K19", "K20", "K21", "K23", "K24", "K25", "K27", "K28", "K29", "K31", "K32", "K33"),
    *("K35", "K36", "K37", "K39"),
    *("W1", "W2", "W3", "W4", "W6"),
    *("A1", "A2", "A4", "A5", "A6", "A7", "A8", "A9"),
)
"""Worked examples of OpenWork's rules: budget (B), limits (L), item limits (I), prune (P),
projection (J), normalize (N), engine (E), world state (S), chat state (C), compaction (K), the
watermark (W), and tool surface, agent messages, long output and display (A)."""

REPORTS: tuple[str, ...] = (
    *("B001", "B002", "B005", "B014"),
    *("B008", "B010", "B011", "B013", "B016", "B017", "B020", "B022"),
    *("B050", "B052", "B053", "B055", "B056", "B058", "B059", "B061", "B062", "B064", "B065"),
    *("B067", "B068", "B070", "B071"),
    *("B073", "B074", "B076", "B077", "B079", "B080", "B082", "B083", "B085", "B086"),
    *("B088", "B089", "B091", "B092", "B094", "B095", "B098", "B101", "B103", "B104"),
    *("B127", "B128", "B130", "B131"),
    *("B133", "B134", "B136", "B137", "B139", "B140", "B142", "B143"),
    *("B145", "B146", "B148", "B149", "B151"),
)
"""What users of similar systems reported: pairing, compaction, token numbers, world state,
storage."""
