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
    *("V001", "V002", "V004", "V005", "V007", "V008", "V010", "V011", "V013", "V014"),
    *("V016", "V017", "V019", "V020", "V022", "V023", "V025", "V026", "V028", "V029"),
    *("V031", "V032", "V034", "V035", "V037", "V038", "V040", "V041", "V043", "V044"),
    *("V046", "V047", "V049", "V050", "V052", "V053", "V055", "V056", "V058", "V059"),
    *("V061", "V062", "V064", "V065", "V067", "V068", "V070", "V071", "V073", "V074"),
    *("V076", "V077", "V079", "V080", "V082", "V083", "V085", "V086", "V088", "V089"),
    *("V091", "V092", "V094", "V095", "V097", "V098", "V100", "V101", "V103", "V104"),
    *("V106", "V107", "V109", "V110", "V112", "V113", "V115", "V116", "V118", "V119"),
    *("V121", "V122", "V124", "V125", "V127", "V128", "V130", "V131", "V133", "V134"),
    *("V136", "V137", "V139", "V140", "V142", "V143", "V145", "V146", "V148", "V149"),
    *("V151", "V152", "V154", "V155", "V157", "V158", "V160", "V161", "V163", "V164"),
    *("V166", "V167", "V169", "V170", "V172", "V173"),
    *("CP1", "CP2", "CP3", "CP5", "CP6", "CP7", "CP9", "CP10", "CP11", "CP13", "CP14"),
    *("CP15", "CP17", "CP18"),
    *("W1", "W2", "W3", "W5", "W6"),
    *("E2", "E3", "E4", "E6"),
    *("CF1", "CF3", "CF4", "CF5", "CF7", "CF8", "CF9", "CF11", "CF12", "CF13", "CF15", "CF16"),
    *("CF17",),
    *("FP1", "FP2", "FP4", "FP5", "FP6", "FP8", "FP9", "FP10", "FP12", "FP13", "FP14", "FP16"),
    *("FP17",),
    *("CT1", "CT3", "CT4", "CT5", "CT7", "CT8"),
    *("H1", "H3", "H4", "H5", "H7", "H8", "H9", "H11", "H12", "H13", "H15", "H16", "H17", "H19"),
    *("H20", "H21"),
    *("M1", "M2", "M3", "M4"),
    *("T1", "T2", "T3", "T5", "T6", "T7", "T9", "T10", "T11", "T13", "T14", "T15"),
    *("L2", "L3", "L4", "L6", "L7", "L8", "L10", "L11", "L12"),
    *("F1", "F2", "F3", "F5", "F6", "F7", "F9", "F10", "F11"),
    *("J2", "J3", "J4", "J6", "J7", "J8", "J10", "J11", "J12", "J14", "J15", "J16", "J18"),
    *("J19", "J20", "J22", "J23", "J24", "J26", "J27"),
    *("R1", "R3", "R4", "R5"),
    *("V1", "V2", "V3", "V5", "V6", "V7", "V9", "V10", "V11", "V13"),
    *("K1", "K2", "K4", "K5", "K6", "K8", "K9", "K10", "K12", "K13", "K14"),
    *("C1", "C2", "C3", "C5", "C6", "C7", "C9", "C10"),
    *("P1", "P3", "P4", "P5", "P7", "P8", "P9"),
    *("X2", "X3", "X4", "X6", "X7", "X8", "X10", "X11", "X12", "X14", "X15", "X16", "X18"),
    *("X19", "X20", "X22"),
    *("S1", "S2", "S4", "S5", "S6", "E2", "E3", "E4"),
)
"""Worked examples of OpenWork's rules: budget (B), limits (L), item limits (I), prune (P),
projection (J), normalize (N), engine (E), world state (S), chat state (C), compaction (K), the
watermark (W), and tool surface, agent messages, long output and display (A). Those of Codex's
 rules have three digits (V). Awaken's: trimming and the request (CP), settings (CF), fold
 points (FP), continuation (CT), what a run does (H), cuts (M), the window behind a fold (W) and the
 estimate (E). goose's: the threshold (T), the ladder of its summary request (L), text for the
 summariser (F), structured summaries (J), their rendering (R), visibility (V with one or two
 digits), counts (K), the cut-off (C) and choice (P) of tool pairs, fixing (X), usage (S) and
 overflows (E). Where two systems have the same id, a test of either counts."""

REPORTS: tuple[str, ...] = (
    *("B001", "B002", "B005", "B014"),
    *("B008", "B010", "B011", "B013", "B016", "B017", "B020", "B022"),
    *("B050", "B052", "B053", "B055", "B056", "B058", "B059", "B061", "B062", "B064", "B065"),
    *("B067", "B068", "B070", "B071"),
    *("B073", "B074", "B076", "B077", "B079", "B080", "B082", "B083", "B085", "B086"),
    *("B088", "B089", "B091", "B092", "B094", "B095", "B097", "B098", "B100"),
    *("B101", "B103", "B104"),
    *("B106", "B107", "B109", "B110", "B112", "B113", "B115", "B116"),
    *("B127", "B128", "B130", "B131"),
    *("B133", "B134", "B136", "B137", "B139", "B140", "B142", "B143"),
    *("B145", "B146", "B148", "B149", "B151"),
)
"""What users of similar systems reported: pairing, compaction, token numbers, limits, world
state, storage."""
