// y = W x for int8 weights with one scale for each group of columns, as in a quantised decoder:
//   y[row] = sum over groups of scales[row, group] * (sum over the group's columns of w[row, column] *
//   x[column])
// with w, x int8, scales uint8, y int64. All of it is integer arithmetic without overflow, so every order of
// summation gives the same bits, and the check is exact. (A float scale of the model is applied to y
// afterwards.)
//
// The last group may be short. group <= 1024 (so that a lane's share of one scaled group fits an int32).
// GCC vector types; the two instructions that have no spelling in them stand behind #ifdef, with a portable
// form to fall back on. Accumulators have names of their own (see gemm.cpp).

#ifndef ROWS  // rows that share one load of x: 1, 2, 3, 4, 6, 8, 12
#define ROWS 1
#endif
#ifndef VL  // bytes in a vector: 16, 32, 64
#define VL 32
#endif
#ifndef DOT  // 0: widen to int32; 1: int16 products, halves added by shifts; 2: pmaddwd; 3: vpdpbusd
#define DOT 0
#endif
#ifndef UNROLL  // dot steps in one turn of the loop inside a group
#define UNROLL 1
#endif
#ifndef PREFETCH  // bytes of each row to prefetch ahead; 0 for none
#define PREFETCH 0
#endif
#ifndef PREFETCH_LEVEL  // the cache to fetch into: 1, 2, or 0 for past the caches (non-temporal)
#define PREFETCH_LEVEL 1
#endif

#if defined(__GNUC__) && !defined(__clang__)
#if DOT == 3 && defined(__AVX512VNNI__) && defined(__AVX512VL__)
#define FORM 3
#elif DOT == 2 && ((VL == 64 && defined(__AVX512BW__)) || (VL == 32 && defined(__AVX2__)) || \
                   (VL == 16 && defined(__SSE2__)))
#define FORM 2
#endif
#endif
#ifndef FORM
#define FORM (DOT == 0 ? 0 : 1)
#endif

#if ROWS == 1
#define EACH_ROW(X) X(0)
#elif ROWS == 2
#define EACH_ROW(X) X(0) X(1)
#elif ROWS == 3
#define EACH_ROW(X) X(0) X(1) X(2)
#elif ROWS == 4
#define EACH_ROW(X) X(0) X(1) X(2) X(3)
#elif ROWS == 6
#define EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5)
#elif ROWS == 8
#define EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#elif ROWS == 12
#define EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#else
#error "ROWS must be 1, 2, 3, 4, 6, 8 or 12"
#endif

namespace {

typedef signed char i8;
typedef int ints __attribute__((vector_size(VL)));
#if FORM == 3
constexpr long k_step = VL;  // bytes in one dot step
#elif FORM == 0
constexpr long k_step = VL / 4;
#else
constexpr long k_step = VL / 2;
#endif
typedef i8 bytes __attribute__((vector_size(k_step), aligned(1), may_alias));
typedef short shorts __attribute__((vector_size(VL)));

// x as a dot step wants it.
#if FORM == 3
typedef ints operand;
inline operand operand_of(const i8* x) { return (ints)(*(const bytes*)x); }
#elif FORM == 0
typedef ints operand;
typedef short halves __attribute__((vector_size(VL / 2)));
inline operand operand_of(const i8* x) {
  // In two steps: compilers take a direct conversion of int8 to int32 apart into single elements.
  return __builtin_convertvector(__builtin_convertvector(*(const bytes*)x, halves), ints);
}
#else
typedef shorts operand;
inline operand operand_of(const i8* x) { return __builtin_convertvector(*(const bytes*)x, shorts); }
#endif

inline ints dot(ints sum, const i8* w, operand x) {
#if FORM == 3
  // The instruction multiplies unsigned by signed: w + 128 is given, and the sum starts at -128 times x (see
  // `starts`).
  const ints raised = (ints)(*(const bytes*)w) ^ (int)0x80808080;
#if VL == 64
  return __builtin_ia32_vpdpbusd_v16si(sum, raised, x);
#elif VL == 32
  return __builtin_ia32_vpdpbusd_v8si(sum, raised, x);
#else
  return __builtin_ia32_vpdpbusd_v4si(sum, raised, x);
#endif
#else
  const operand wide = operand_of(w);
#if FORM == 0
  return sum + wide * x;
#elif FORM == 2
#if VL == 64
  return sum + __builtin_ia32_pmaddwd512_mask(wide, x, ints{}, (unsigned short)-1);
#elif VL == 32
  return sum + __builtin_ia32_pmaddwd256(wide, x);
#else
  return sum + __builtin_ia32_pmaddwd128(wide, x);
#endif
#else
  const ints pairs = (ints)(wide * x);  // |w * x| <= 16384 fits an int16
  return sum + ((pairs << 16) >> 16) + (pairs >> 16);
#endif
#endif
}

inline long long lanes_sum(ints x) {
  long long sum = 0;
  for (int i = 0; i < VL / 4; ++i) sum += x[i];
  return sum;
}

struct Job {
  const i8* x;
  const int* starts;  // what a group's lanes begin with; all zero unless FORM is 3
  long columns, group, groups;
  long flush;  // groups after which the int32 lanes must be emptied
};

// `count` rows (at most ROWS): the pointers of missing ones repeat the last, and their results are dropped.
__attribute__((noinline)) void block(const Job& job, const i8* w, const unsigned char* scales, long long* y,
                                     long count) {
#define POINTERS(i)                                                                  \
  const i8* w##i = w + ((i) < count ? (i) : count - 1) * job.columns;                \
  const unsigned char* s##i = scales + ((i) < count ? (i) : count - 1) * job.groups; \
  long long y##i = 0;                                                                \
  ints t##i = {};
  EACH_ROW(POINTERS)
  long until_flush = job.flush;
  const i8* x = job.x;
  for (long g = 0, left = job.columns; g < job.groups; ++g, left -= job.group) {
    const long length = left < job.group ? left : job.group;
    const long whole = length / k_step * k_step;
#if FORM == 3
    const ints start = *(const ints*)(job.starts + g * (VL / 4));
#define START(i) ints a##i = start;
#else
#define START(i) ints a##i = {};
#endif
    EACH_ROW(START)
#define PRAGMA_(text) _Pragma(#text)
#define PRAGMA(text) PRAGMA_(text)
    PRAGMA(GCC unroll UNROLL)
    for (long c = 0; c < whole; c += k_step) {
      const operand xs = operand_of(x + c);
#if PREFETCH && PREFETCH_LEVEL
#define FETCH(i) __builtin_prefetch(w##i + c + PREFETCH, 0, 4 - PREFETCH_LEVEL);
#elif PREFETCH
#define FETCH(i) __builtin_prefetch(w##i + c + PREFETCH, 0, 0);
#else
#define FETCH(i)
#endif
#define DOT_ROW(i) FETCH(i) a##i = dot(a##i, w##i + c, xs);
      EACH_ROW(DOT_ROW)
    }
#define SCALE(i) t##i += a##i * (int)s##i[g];
    EACH_ROW(SCALE)
    for (long c = whole; c < length; ++c) {
#define REST(i) y##i += (int)w##i[c] * (int)x[c] * (int)s##i[g];
      EACH_ROW(REST)
    }
    x += length;
#define NEXT(i) w##i += length;
    EACH_ROW(NEXT)
    if (--until_flush == 0) {
#define FLUSH(i)           \
  y##i += lanes_sum(t##i); \
  t##i = ints{};
      EACH_ROW(FLUSH)
      until_flush = job.flush;
    }
  }
#define FINISH(i) \
  if ((i) < count) y[i] = y##i + lanes_sum(t##i);
  EACH_ROW(FINISH)
}

}  // namespace

// work: 16 ints for each group.
extern "C" void gemv_int8(const signed char* w, const unsigned char* scales, const signed char* x,
                          long long* y, int* work, int rows, int columns, int group) {
  Job job{x, work, columns, group, (static_cast<long>(columns) + group - 1) / group, 0};
  // A lane takes at most group / (VL / 4) products of at most 2^14 in size, scaled by at most 255.
  const long a_lane = (group + VL / 4 - 1) / (VL / 4);
  job.flush = 2147483647L / (a_lane * 16384 * 255);
  if (job.flush < 1) job.flush = 1;
#if FORM == 3
  for (long g = 0; g < job.groups; ++g) {
    int* start = work + g * (VL / 4);
    for (long lane = 0; lane < VL / 4; ++lane) start[lane] = 0;
    const long length = columns - g * group < group ? columns - g * group : group;
    const long whole = length / k_step * k_step;
    for (long c = 0; c < whole; ++c) start[c % VL / 4] -= 128 * (int)x[g * group + c];
  }
#endif
  for (long row = 0; row < rows; row += ROWS) {
    const long count = rows - row < ROWS ? rows - row : ROWS;
    block(job, w + row * columns, scales + row * job.groups, y + row, count);
  }
}
