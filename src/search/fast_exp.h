// exp for arguments up to 0, with a relative error below 1e-5, in plain arithmetic: compilers turn a loop of
// it into vector code, and it gives the same digits on every machine.
#pragma once

#include <bit>
#include <cstdint>

namespace tunesmith::search {

/// `x` at most 0; below -80 it gives exp(-80).
[[nodiscard]] inline float fast_exp(float x) {
  constexpr float k_log2_e = 1.44269504F;
  const float bounded = x < -80.0F ? -80.0F : x;
  const float power = bounded * k_log2_e;
  const auto whole = static_cast<std::int32_t>(power - 0.5F);  // to the nearest, as power is at most 0
  const float rest = power - static_cast<float>(whole);
  // 2^rest on [-0.5, 0.5]: the Taylor series to the fifth power.
  const float fraction =
      1.0F + rest * (0.693147182F +
                     rest * (0.240226507F +
                             rest * (0.0555041087F + rest * (0.00961812911F + rest * 0.00133335581F))));
  return fraction * std::bit_cast<float>((whole + 127) << 23);
}

}  // namespace tunesmith::search
