"""How much a task takes at once. Tests make these smaller, to have many tasks of few posts."""

# Records of a chunk, which is one task's from import on.
CHUNK = 1 << 15
# Bytes of a dump that one task imports, where the dump can be cut.
PIECE = 128 << 20
# Bytes of dumps whose posts' ids are looked through together.
SHARE = 64 << 20
# Rows whose keys are cut together: enough that a lane's block is no crumb.
CUT = 1 << 14
# Rows whose keys are about a lane's.
LANE = 1 << 16
# A row in so many is looked at to find keys that many rows share.
SAMPLE = 64
# Pairs that are compared at once.
COMPARED = 1 << 16
# Chunks whose counts are added before those of all.
ADDED = 64
