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
# Bytes of a post in a dump whose lines are not counted: few, so that posts are rather too many.
POST = 150
# Posts, and CPU seconds of `riddlemill run` up to dedup: the README of `cluster` says how they were measured. The last is the
# join on disk of ten million rows, with the other stages at the rate of a million.
MEASURED = ((100_000, 3.3), (300_000, 14.3), (1_000_000, 67.0), (10_000_000, 2_000.0))
# How many times the CPU time of `run` a job took for a million posts on Spark.
JOB = 3.7
