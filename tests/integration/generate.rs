//! RuozhiBench-Gen from drafts to candidates: replies, votes, what is missing, what is edited.
