// Holds nothing: its target carries the precompiled header that all test programs share.
