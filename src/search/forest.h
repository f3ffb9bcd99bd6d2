// A small regression forest of extremely randomised trees (Geurts, Ernst, Wehenkel 2006): every split is
// drawn at random and the best of a few is kept. The disagreement of the trees is the model's uncertainty.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"

namespace tunesmith::search {

struct Prediction {
  double mean = 0;
  double deviation = 0;  ///< between trees
};

class Forest {
 public:
  /// `rows` holds rows.size() / width points one after another; `targets` one finite number each.
  void fit(std::span<const float> rows, std::size_t width, std::span<const double> targets, std::size_t trees,
           Rng& rng);
  [[nodiscard]] Prediction predict(std::span<const float> row) const;
  [[nodiscard]] bool empty() const { return m_roots.empty(); }

 private:
  /// The left child follows its parent; a leaf has feature k_leaf.
  struct Node {
    std::uint32_t feature = 0;
    float threshold = 0;
    std::uint32_t right = 0;
    float value = 0;
  };
  static constexpr std::uint32_t k_leaf = 0xFFFFFFFFU;
  struct Growth;
  void grow(Growth& growth, std::size_t begin, std::size_t end);

  std::vector<Node> m_nodes;
  std::vector<std::uint32_t> m_roots;
};

}  // namespace tunesmith::search
