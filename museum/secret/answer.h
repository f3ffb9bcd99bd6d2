// A file beside the kernel that a candidate has no business with: stands for the reference or another candidate.
#define MUSEUM_ANSWER 42
