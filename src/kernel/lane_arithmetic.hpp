// More of the lanes than the passes of best scores need: products of both kinds, and for doubles
// comparisons and powers of two.
#pragma once

#include <bit>
#include <cstdint>

#include "lanes.hpp"

namespace treewright::TREEWRIGHT_ISA {

using Doubles = Lanes<double>;

// `bits_down` and `bits_up` shift the 64 bits of each number by the 52 of its mantissa.
#if defined(TREEWRIGHT_AVX512)

TREEWRIGHT_INLINE Lanes<float> operator*(Lanes<float> a, Lanes<float> b) {
  return {_mm512_mul_ps(a.v, b.v)};
}
TREEWRIGHT_INLINE Lanes<float> multiply_add(Lanes<float> a, Lanes<float> b, Lanes<float> c) {
  return {_mm512_fmadd_ps(a.v, b.v, c.v)};
}
TREEWRIGHT_INLINE Doubles operator*(Doubles a, Doubles b) { return {_mm512_mul_pd(a.v, b.v)}; }
TREEWRIGHT_INLINE Doubles operator-(Doubles a, Doubles b) { return {_mm512_sub_pd(a.v, b.v)}; }
TREEWRIGHT_INLINE Doubles multiply_add(Doubles a, Doubles b, Doubles c) {
  return {_mm512_fmadd_pd(a.v, b.v, c.v)};
}
// x in the lanes where a > b, y elsewhere.
TREEWRIGHT_INLINE Doubles where_above(Doubles a, Doubles b, Doubles x, Doubles y) {
  return {_mm512_mask_mov_pd(y.v, _mm512_cmp_pd_mask(a.v, b.v, _CMP_GT_OQ), x.v)};
}
TREEWRIGHT_INLINE Doubles bits_down(Doubles x) {
  return {_mm512_castsi512_pd(_mm512_srli_epi64(_mm512_castpd_si512(x.v), 52))};
}
TREEWRIGHT_INLINE Doubles bits_up(Doubles x) {
  return {_mm512_castsi512_pd(_mm512_slli_epi64(_mm512_castpd_si512(x.v), 52))};
}
TREEWRIGHT_INLINE Doubles bits_or(Doubles a, Doubles b) {
  return {_mm512_castsi512_pd(_mm512_or_si512(_mm512_castpd_si512(a.v), _mm512_castpd_si512(b.v)))};
}
TREEWRIGHT_INLINE Doubles load_doubles(const double* from) { return Doubles::load(from); }
TREEWRIGHT_INLINE Doubles load_doubles(const float* from) {
  return {_mm512_cvtps_pd(_mm256_loadu_ps(from))};
}

#elif defined(TREEWRIGHT_AVX2)

TREEWRIGHT_INLINE Lanes<float> operator*(Lanes<float> a, Lanes<float> b) {
  return {_mm256_mul_ps(a.v, b.v)};
}
TREEWRIGHT_INLINE Lanes<float> multiply_add(Lanes<float> a, Lanes<float> b, Lanes<float> c) {
  return a * b + c;
}
TREEWRIGHT_INLINE Doubles operator*(Doubles a, Doubles b) { return {_mm256_mul_pd(a.v, b.v)}; }
TREEWRIGHT_INLINE Doubles operator-(Doubles a, Doubles b) { return {_mm256_sub_pd(a.v, b.v)}; }
TREEWRIGHT_INLINE Doubles multiply_add(Doubles a, Doubles b, Doubles c) { return a * b + c; }
TREEWRIGHT_INLINE Doubles where_above(Doubles a, Doubles b, Doubles x, Doubles y) {
  return {_mm256_blendv_pd(y.v, x.v, _mm256_cmp_pd(a.v, b.v, _CMP_GT_OQ))};
}
TREEWRIGHT_INLINE Doubles bits_down(Doubles x) {
  return {_mm256_castsi256_pd(_mm256_srli_epi64(_mm256_castpd_si256(x.v), 52))};
}
TREEWRIGHT_INLINE Doubles bits_up(Doubles x) {
  return {_mm256_castsi256_pd(_mm256_slli_epi64(_mm256_castpd_si256(x.v), 52))};
}
TREEWRIGHT_INLINE Doubles bits_or(Doubles a, Doubles b) { return {_mm256_or_pd(a.v, b.v)}; }
TREEWRIGHT_INLINE Doubles load_doubles(const double* from) { return Doubles::load(from); }
TREEWRIGHT_INLINE Doubles load_doubles(const float* from) {
  return {_mm256_cvtps_pd(_mm_loadu_ps(from))};
}

#elif defined(TREEWRIGHT_X86)

TREEWRIGHT_INLINE Lanes<float> operator*(Lanes<float> a, Lanes<float> b) {
  return {_mm_mul_ps(a.v, b.v)};
}
TREEWRIGHT_INLINE Lanes<float> multiply_add(Lanes<float> a, Lanes<float> b, Lanes<float> c) {
  return a * b + c;
}
TREEWRIGHT_INLINE Doubles operator*(Doubles a, Doubles b) { return {_mm_mul_pd(a.v, b.v)}; }
TREEWRIGHT_INLINE Doubles operator-(Doubles a, Doubles b) { return {_mm_sub_pd(a.v, b.v)}; }
TREEWRIGHT_INLINE Doubles multiply_add(Doubles a, Doubles b, Doubles c) { return a * b + c; }
TREEWRIGHT_INLINE Doubles where_above(Doubles a, Doubles b, Doubles x, Doubles y) {
  const __m128d mask = _mm_cmpgt_pd(a.v, b.v);
  return {_mm_or_pd(_mm_and_pd(mask, x.v), _mm_andnot_pd(mask, y.v))};
}
TREEWRIGHT_INLINE Doubles bits_down(Doubles x) {
  return {_mm_castsi128_pd(_mm_srli_epi64(_mm_castpd_si128(x.v), 52))};
}
TREEWRIGHT_INLINE Doubles bits_up(Doubles x) {
  return {_mm_castsi128_pd(_mm_slli_epi64(_mm_castpd_si128(x.v), 52))};
}
TREEWRIGHT_INLINE Doubles bits_or(Doubles a, Doubles b) { return {_mm_or_pd(a.v, b.v)}; }
TREEWRIGHT_INLINE Doubles load_doubles(const double* from) { return Doubles::load(from); }
TREEWRIGHT_INLINE Doubles load_doubles(const float* from) {
  return {_mm_setr_pd(from[0], from[1])};
}

#elif defined(TREEWRIGHT_NEON)

TREEWRIGHT_INLINE Lanes<float> operator*(Lanes<float> a, Lanes<float> b) {
  return {vmulq_f32(a.v, b.v)};
}
TREEWRIGHT_INLINE Lanes<float> multiply_add(Lanes<float> a, Lanes<float> b, Lanes<float> c) {
  return {vfmaq_f32(c.v, a.v, b.v)};
}
TREEWRIGHT_INLINE Doubles operator*(Doubles a, Doubles b) { return {vmulq_f64(a.v, b.v)}; }
TREEWRIGHT_INLINE Doubles operator-(Doubles a, Doubles b) { return {vsubq_f64(a.v, b.v)}; }
TREEWRIGHT_INLINE Doubles multiply_add(Doubles a, Doubles b, Doubles c) {
  return {vfmaq_f64(c.v, a.v, b.v)};
}
TREEWRIGHT_INLINE Doubles where_above(Doubles a, Doubles b, Doubles x, Doubles y) {
  return {vbslq_f64(vcgtq_f64(a.v, b.v), x.v, y.v)};
}
TREEWRIGHT_INLINE Doubles bits_down(Doubles x) {
  return {vreinterpretq_f64_u64(vshrq_n_u64(vreinterpretq_u64_f64(x.v), 52))};
}
TREEWRIGHT_INLINE Doubles bits_up(Doubles x) {
  return {vreinterpretq_f64_u64(vshlq_n_u64(vreinterpretq_u64_f64(x.v), 52))};
}
TREEWRIGHT_INLINE Doubles bits_or(Doubles a, Doubles b) {
  return {vreinterpretq_f64_u64(vorrq_u64(vreinterpretq_u64_f64(a.v), vreinterpretq_u64_f64(b.v)))};
}
TREEWRIGHT_INLINE Doubles load_doubles(const double* from) { return Doubles::load(from); }
TREEWRIGHT_INLINE Doubles load_doubles(const float* from) { return {vcvt_f64_f32(vld1_f32(from))}; }

#else

TREEWRIGHT_INLINE Lanes<float> operator*(Lanes<float> a, Lanes<float> b) { return {a.v * b.v}; }
TREEWRIGHT_INLINE Lanes<float> multiply_add(Lanes<float> a, Lanes<float> b, Lanes<float> c) {
  return {a.v * b.v + c.v};
}
TREEWRIGHT_INLINE Doubles operator*(Doubles a, Doubles b) { return {a.v * b.v}; }
TREEWRIGHT_INLINE Doubles operator-(Doubles a, Doubles b) { return {a.v - b.v}; }
TREEWRIGHT_INLINE Doubles multiply_add(Doubles a, Doubles b, Doubles c) { return a * b + c; }
TREEWRIGHT_INLINE Doubles where_above(Doubles a, Doubles b, Doubles x, Doubles y) {
  return a.v > b.v ? x : y;
}
TREEWRIGHT_INLINE Doubles bits_down(Doubles x) {
  return {std::bit_cast<double>(std::bit_cast<std::uint64_t>(x.v) >> 52)};
}
TREEWRIGHT_INLINE Doubles bits_up(Doubles x) {
  return {std::bit_cast<double>(std::bit_cast<std::uint64_t>(x.v) << 52)};
}
TREEWRIGHT_INLINE Doubles bits_or(Doubles a, Doubles b) {
  return {
      std::bit_cast<double>(std::bit_cast<std::uint64_t>(a.v) | std::bit_cast<std::uint64_t>(b.v))};
}
TREEWRIGHT_INLINE Doubles load_doubles(const double* from) { return Doubles::load(from); }
TREEWRIGHT_INLINE Doubles load_doubles(const float* from) { return {*from}; }

#endif

// From 2^52 to 2^53 doubles are the whole numbers, and their low bits count them.
constexpr double whole_numbers = 4503599627370496.0;

// The nearest whole number, for |x| < 2^51.
TREEWRIGHT_INLINE Doubles nearest(Doubles x) {
  const Doubles magic = Doubles::splat(1.5 * whole_numbers);
  return x + magic - magic;
}

// 2^x for a whole number x <= 1023; 0 below -1022.
TREEWRIGHT_INLINE Doubles power_of_two(Doubles x) {
  const Doubles biased = max(x, Doubles::splat(-1023)) + Doubles::splat(whole_numbers + 1023);
  return bits_up(biased);
}

// The whole number x with 2^x <= a < 2^(x + 1), for a normal a > 0.
TREEWRIGHT_INLINE Doubles exponent_of(Doubles a) {
  return bits_or(bits_down(a), Doubles::splat(whole_numbers)) -
         Doubles::splat(whole_numbers + 1023);
}

// 2^x to the last place or two, for x < 1023; 0 below -1022.
TREEWRIGHT_INLINE Doubles exp2(Doubles x) {
  x = max(x, Doubles::splat(-1100));
  const Doubles whole = nearest(x);
  const Doubles f = x - whole;
  // The polynomial that is 2^f at the Chebyshev points of [-1/2, 1/2]; off by 4e-18 at most.
  constexpr double coefficients[] = {7.074194297288521e-09,
                                     1.0178057087733941e-07,
                                     1.3215432535912375e-06,
                                     1.5252733841556773e-05,
                                     0.00015403530463724353,
                                     0.001333355814640647,
                                     0.009618129107587256,
                                     0.055504108664821625,
                                     0.24022650695910158,
                                     0.6931471805599453,
                                     1.0};
  Doubles y = Doubles::splat(4.4558179083360645e-10);
  TREEWRIGHT_UNROLL
  for (int c = 0; c < 11; ++c) y = multiply_add(y, f, Doubles::splat(coefficients[c]));
  return y * power_of_two(whole);
}

// `width` vectors, turned: x[c] becomes lane c of each.
TREEWRIGHT_INLINE void turn(Doubles* x) {
  constexpr int W = Doubles::width;
  Doubles turned[W];
  TREEWRIGHT_UNROLL
  for (int round = 1; round < W; round *= 2) {
    TREEWRIGHT_UNROLL
    for (int i = 0; i < W / 2; ++i) {
      turned[2 * i] = zip_low(x[i], x[i + W / 2]);
      turned[2 * i + 1] = zip_high(x[i], x[i + W / 2]);
    }
    TREEWRIGHT_UNROLL
    for (int i = 0; i < W; ++i) x[i] = turned[i];
  }
}

}  // namespace treewright::TREEWRIGHT_ISA
