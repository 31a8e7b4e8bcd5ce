// The vector types of the kernel: Lanes<float> and Lanes<double>, as wide as the instruction set
// that this translation unit is compiled for. A unit that includes this header is compiled once
// for each instruction set, with TREEWRIGHT_ISA naming it (avx512, avx2 or plain); everything in
// here and above it lives in that namespace, so that no function compiled for one set is linked
// into another. No NaN and no +infinity ever enters: max() may answer either operand on a NaN.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#if defined(TREEWRIGHT_AVX512) || defined(TREEWRIGHT_AVX2) || defined(__SSE2__) || defined(_M_X64)
#define TREEWRIGHT_X86 1
#include <immintrin.h>
#elif defined(__aarch64__) || defined(_M_ARM64)
#define TREEWRIGHT_NEON 1
#include <arm_neon.h>
#endif

#if !defined(TREEWRIGHT_ISA)
#define TREEWRIGHT_ISA plain
#endif

#if defined(_MSC_VER)
#define TREEWRIGHT_INLINE __forceinline
#else
#define TREEWRIGHT_INLINE inline __attribute__((always_inline))
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#define TREEWRIGHT_PREFETCH(at)
#else
#define TREEWRIGHT_PREFETCH(at) __builtin_prefetch(at, 0, 2)
#endif

// Before a loop whose count is known and whose array must become registers.
#if defined(__clang__)
#define TREEWRIGHT_UNROLL _Pragma("unroll")
#elif defined(__GNUC__)
#define TREEWRIGHT_UNROLL _Pragma("GCC unroll 64")
#else
#define TREEWRIGHT_UNROLL
#endif

namespace treewright::TREEWRIGHT_ISA {

// load and store take any address; `where_equal(a, b, x)` is x in the lanes where a == b and
// -infinity elsewhere; `first_equal(a, b)` is the first lane where a == b, or `width`; `all_less(a,
// b)` is false where either is not a number; `zip_low` and `zip_high` are the two halves of a0 b0
// a1 b1 a2 b2 ...
template <class Real>
struct Lanes;

TREEWRIGHT_INLINE int first_bit(unsigned bits, int width) {
  return bits == 0 ? width : std::countr_zero(bits);
}

#define TREEWRIGHT_LANES(Real, Register, Width, LOAD, STORE, SPLAT, ADD, MAX)                     \
  template <>                                                                                     \
  struct Lanes<Real> {                                                                            \
    static constexpr int width = Width;                                                           \
    Register v;                                                                                   \
    static TREEWRIGHT_INLINE Lanes load(const Real* from) { return {LOAD(from)}; }                \
    static TREEWRIGHT_INLINE Lanes splat(Real x) { return {SPLAT(x)}; }                           \
    static TREEWRIGHT_INLINE Lanes impossible() {                                                 \
      return splat(-std::numeric_limits<Real>::infinity());                                       \
    }                                                                                             \
    TREEWRIGHT_INLINE void store(Real* to) const { STORE(to, v); }                                \
    friend TREEWRIGHT_INLINE Lanes operator+(Lanes a, Lanes b) { return {ADD(a.v, b.v)}; }        \
    friend TREEWRIGHT_INLINE Lanes max(Lanes a, Lanes b) { return {MAX(a.v, b.v)}; }              \
    friend TREEWRIGHT_INLINE Lanes where_equal(Lanes a, Lanes b, Lanes x) {                       \
      return {TREEWRIGHT_WHERE_EQUAL(a.v, b.v, x.v, Real)};                                       \
    }                                                                                             \
    friend TREEWRIGHT_INLINE int first_equal(Lanes a, Lanes b) { return first_equal_(a.v, b.v); } \
    friend TREEWRIGHT_INLINE bool all_less(Lanes a, Lanes b) { return all_less_(a.v, b.v); }      \
    friend TREEWRIGHT_INLINE Lanes zip_low(Lanes a, Lanes b) { return {zip_low_(a.v, b.v)}; }     \
    friend TREEWRIGHT_INLINE Lanes zip_high(Lanes a, Lanes b) { return {zip_high_(a.v, b.v)}; }   \
  };

#if defined(TREEWRIGHT_AVX512)

TREEWRIGHT_INLINE __m512 zip_low_(__m512 a, __m512 b) {
  const __m512i order = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  return _mm512_permutex2var_ps(a, order, b);
}
TREEWRIGHT_INLINE __m512 zip_high_(__m512 a, __m512 b) {
  const __m512i order =
      _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  return _mm512_permutex2var_ps(a, order, b);
}
TREEWRIGHT_INLINE __m512d zip_low_(__m512d a, __m512d b) {
  return _mm512_permutex2var_pd(a, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), b);
}
TREEWRIGHT_INLINE __m512d zip_high_(__m512d a, __m512d b) {
  return _mm512_permutex2var_pd(a, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), b);
}
TREEWRIGHT_INLINE __m512 where_equal_(__m512 a, __m512 b, __m512 x, __m512 otherwise) {
  return _mm512_mask_mov_ps(otherwise, _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ), x);
}
TREEWRIGHT_INLINE __m512d where_equal_(__m512d a, __m512d b, __m512d x, __m512d otherwise) {
  return _mm512_mask_mov_pd(otherwise, _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ), x);
}
TREEWRIGHT_INLINE bool all_less_(__m512 a, __m512 b) {
  return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ) == 0xffff;
}
TREEWRIGHT_INLINE bool all_less_(__m512d a, __m512d b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ) == 0xff;
}
TREEWRIGHT_INLINE int first_equal_(__m512 a, __m512 b) {
  return first_bit(_mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ), 16);
}
TREEWRIGHT_INLINE int first_equal_(__m512d a, __m512d b) {
  return first_bit(_mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ), 8);
}
#define TREEWRIGHT_WHERE_EQUAL(a, b, x, Real) where_equal_(a, b, x, impossible().v)
TREEWRIGHT_LANES(float, __m512, 16, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps,
                 _mm512_add_ps, _mm512_max_ps)
TREEWRIGHT_LANES(double, __m512d, 8, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_set1_pd,
                 _mm512_add_pd, _mm512_max_pd)

#elif defined(TREEWRIGHT_AVX2)

TREEWRIGHT_INLINE __m256 zip_low_(__m256 a, __m256 b) {
  return _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), 0x20);
}
TREEWRIGHT_INLINE __m256 zip_high_(__m256 a, __m256 b) {
  return _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), 0x31);
}
TREEWRIGHT_INLINE __m256d zip_low_(__m256d a, __m256d b) {
  return _mm256_permute2f128_pd(_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b), 0x20);
}
TREEWRIGHT_INLINE __m256d zip_high_(__m256d a, __m256d b) {
  return _mm256_permute2f128_pd(_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b), 0x31);
}
TREEWRIGHT_INLINE __m256 where_equal_(__m256 a, __m256 b, __m256 x, __m256 otherwise) {
  return _mm256_blendv_ps(otherwise, x, _mm256_cmp_ps(a, b, _CMP_EQ_OQ));
}
TREEWRIGHT_INLINE __m256d where_equal_(__m256d a, __m256d b, __m256d x, __m256d otherwise) {
  return _mm256_blendv_pd(otherwise, x, _mm256_cmp_pd(a, b, _CMP_EQ_OQ));
}
TREEWRIGHT_INLINE bool all_less_(__m256 a, __m256 b) {
  return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LT_OQ)) == 0xff;
}
TREEWRIGHT_INLINE bool all_less_(__m256d a, __m256d b) {
  return _mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_LT_OQ)) == 0xf;
}
TREEWRIGHT_INLINE int first_equal_(__m256 a, __m256 b) {
  return first_bit(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_EQ_OQ)), 8);
}
TREEWRIGHT_INLINE int first_equal_(__m256d a, __m256d b) {
  return first_bit(_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_EQ_OQ)), 4);
}
#define TREEWRIGHT_WHERE_EQUAL(a, b, x, Real) where_equal_(a, b, x, impossible().v)
TREEWRIGHT_LANES(float, __m256, 8, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps, _mm256_add_ps,
                 _mm256_max_ps)
TREEWRIGHT_LANES(double, __m256d, 4, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_set1_pd,
                 _mm256_add_pd, _mm256_max_pd)

#elif defined(TREEWRIGHT_X86)

TREEWRIGHT_INLINE __m128 zip_low_(__m128 a, __m128 b) { return _mm_unpacklo_ps(a, b); }
TREEWRIGHT_INLINE __m128 zip_high_(__m128 a, __m128 b) { return _mm_unpackhi_ps(a, b); }
TREEWRIGHT_INLINE __m128d zip_low_(__m128d a, __m128d b) { return _mm_unpacklo_pd(a, b); }
TREEWRIGHT_INLINE __m128d zip_high_(__m128d a, __m128d b) { return _mm_unpackhi_pd(a, b); }
TREEWRIGHT_INLINE __m128 where_equal_(__m128 a, __m128 b, __m128 x, __m128 otherwise) {
  const __m128 mask = _mm_cmpeq_ps(a, b);
  return _mm_or_ps(_mm_and_ps(mask, x), _mm_andnot_ps(mask, otherwise));
}
TREEWRIGHT_INLINE __m128d where_equal_(__m128d a, __m128d b, __m128d x, __m128d otherwise) {
  const __m128d mask = _mm_cmpeq_pd(a, b);
  return _mm_or_pd(_mm_and_pd(mask, x), _mm_andnot_pd(mask, otherwise));
}
TREEWRIGHT_INLINE bool all_less_(__m128 a, __m128 b) {
  return _mm_movemask_ps(_mm_cmplt_ps(a, b)) == 0xf;
}
TREEWRIGHT_INLINE bool all_less_(__m128d a, __m128d b) {
  return _mm_movemask_pd(_mm_cmplt_pd(a, b)) == 0x3;
}
TREEWRIGHT_INLINE int first_equal_(__m128 a, __m128 b) {
  return first_bit(_mm_movemask_ps(_mm_cmpeq_ps(a, b)), 4);
}
TREEWRIGHT_INLINE int first_equal_(__m128d a, __m128d b) {
  return first_bit(_mm_movemask_pd(_mm_cmpeq_pd(a, b)), 2);
}
#define TREEWRIGHT_WHERE_EQUAL(a, b, x, Real) where_equal_(a, b, x, impossible().v)
TREEWRIGHT_LANES(float, __m128, 4, _mm_loadu_ps, _mm_storeu_ps, _mm_set1_ps, _mm_add_ps, _mm_max_ps)
TREEWRIGHT_LANES(double, __m128d, 2, _mm_loadu_pd, _mm_storeu_pd, _mm_set1_pd, _mm_add_pd,
                 _mm_max_pd)

#elif defined(TREEWRIGHT_NEON)

TREEWRIGHT_INLINE float32x4_t zip_low_(float32x4_t a, float32x4_t b) { return vzip1q_f32(a, b); }
TREEWRIGHT_INLINE float32x4_t zip_high_(float32x4_t a, float32x4_t b) { return vzip2q_f32(a, b); }
TREEWRIGHT_INLINE float64x2_t zip_low_(float64x2_t a, float64x2_t b) { return vzip1q_f64(a, b); }
TREEWRIGHT_INLINE float64x2_t zip_high_(float64x2_t a, float64x2_t b) { return vzip2q_f64(a, b); }
TREEWRIGHT_INLINE float32x4_t where_equal_(float32x4_t a, float32x4_t b, float32x4_t x,
                                           float32x4_t otherwise) {
  return vbslq_f32(vceqq_f32(a, b), x, otherwise);
}
TREEWRIGHT_INLINE float64x2_t where_equal_(float64x2_t a, float64x2_t b, float64x2_t x,
                                           float64x2_t otherwise) {
  return vbslq_f64(vceqq_f64(a, b), x, otherwise);
}
TREEWRIGHT_INLINE bool all_less_(float32x4_t a, float32x4_t b) {
  return vminvq_u32(vcltq_f32(a, b)) != 0;
}
TREEWRIGHT_INLINE bool all_less_(float64x2_t a, float64x2_t b) {
  const uint64x2_t mask = vcltq_f64(a, b);
  return (vgetq_lane_u64(mask, 0) & vgetq_lane_u64(mask, 1)) != 0;
}
// The masks, narrowed until all lanes fit one 64-bit number.
TREEWRIGHT_INLINE int first_equal_(float32x4_t a, float32x4_t b) {
  const uint16x4_t mask = vmovn_u32(vceqq_f32(a, b));
  const std::uint64_t bits = vget_lane_u64(vreinterpret_u64_u16(mask), 0);
  return bits == 0 ? 4 : std::countr_zero(bits) / 16;
}
TREEWRIGHT_INLINE int first_equal_(float64x2_t a, float64x2_t b) {
  const uint32x2_t mask = vmovn_u64(vceqq_f64(a, b));
  const std::uint64_t bits = vget_lane_u64(vreinterpret_u64_u32(mask), 0);
  return bits == 0 ? 2 : std::countr_zero(bits) / 32;
}
#define TREEWRIGHT_WHERE_EQUAL(a, b, x, Real) where_equal_(a, b, x, impossible().v)
TREEWRIGHT_LANES(float, float32x4_t, 4, vld1q_f32, vst1q_f32, vdupq_n_f32, vaddq_f32, vmaxq_f32)
TREEWRIGHT_LANES(double, float64x2_t, 2, vld1q_f64, vst1q_f64, vdupq_n_f64, vaddq_f64, vmaxq_f64)

#else  // no vector unit that we know: one number at a time

TREEWRIGHT_INLINE float zip_low_(float a, float) { return a; }
TREEWRIGHT_INLINE float zip_high_(float, float b) { return b; }
TREEWRIGHT_INLINE double zip_low_(double a, double) { return a; }
TREEWRIGHT_INLINE double zip_high_(double, double b) { return b; }
TREEWRIGHT_INLINE bool all_less_(float a, float b) { return a < b; }
TREEWRIGHT_INLINE bool all_less_(double a, double b) { return a < b; }
TREEWRIGHT_INLINE int first_equal_(float a, float b) { return a == b ? 0 : 1; }
TREEWRIGHT_INLINE int first_equal_(double a, double b) { return a == b ? 0 : 1; }
#define TREEWRIGHT_LOAD_ONE(from) (*(from))
#define TREEWRIGHT_STORE_ONE(to, x) (*(to) = (x))
#define TREEWRIGHT_SPLAT_ONE(x) (x)
#define TREEWRIGHT_ADD_ONE(a, b) ((a) + (b))
#define TREEWRIGHT_MAX_ONE(a, b) ((a) > (b) ? (a) : (b))
#define TREEWRIGHT_WHERE_EQUAL(a, b, x, Real) ((a) == (b) ? (x) : impossible().v)
TREEWRIGHT_LANES(float, float, 1, TREEWRIGHT_LOAD_ONE, TREEWRIGHT_STORE_ONE, TREEWRIGHT_SPLAT_ONE,
                 TREEWRIGHT_ADD_ONE, TREEWRIGHT_MAX_ONE)
TREEWRIGHT_LANES(double, double, 1, TREEWRIGHT_LOAD_ONE, TREEWRIGHT_STORE_ONE, TREEWRIGHT_SPLAT_ONE,
                 TREEWRIGHT_ADD_ONE, TREEWRIGHT_MAX_ONE)

#endif

#undef TREEWRIGHT_LANES
#undef TREEWRIGHT_WHERE_EQUAL

// Columns column .. column + width of `width` rows, turned: out[c] holds that column of each row.
template <class Real>
TREEWRIGHT_INLINE void load_transposed(const Real* const* rows, std::ptrdiff_t column,
                                       Lanes<Real>* out) {
  constexpr int W = Lanes<Real>::width;
  Lanes<Real> turned[W];
  TREEWRIGHT_UNROLL
  for (int i = 0; i < W; ++i) out[i] = Lanes<Real>::load(rows[i] + column);
  TREEWRIGHT_UNROLL
  for (int round = 1; round < W; round *= 2) {
    TREEWRIGHT_UNROLL
    for (int i = 0; i < W / 2; ++i) {
      turned[2 * i] = zip_low(out[i], out[i + W / 2]);
      turned[2 * i + 1] = zip_high(out[i], out[i + W / 2]);
    }
    TREEWRIGHT_UNROLL
    for (int i = 0; i < W; ++i) out[i] = turned[i];
  }
}

// The largest number of each of `width` vectors: lane i of the answer is that of x[i].
template <class Real>
TREEWRIGHT_INLINE Lanes<Real> largest_of_each(Lanes<Real>* x) {
  TREEWRIGHT_UNROLL
  for (int half = Lanes<Real>::width / 2; half > 0; half /= 2) {
    TREEWRIGHT_UNROLL
    for (int i = 0; i < half; ++i) {
      x[i] = max(zip_low(x[i], x[i + half]), zip_high(x[i], x[i + half]));
    }
  }
  return x[0];
}

}  // namespace treewright::TREEWRIGHT_ISA
