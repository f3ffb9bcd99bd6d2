// A set of configurations: what has been proposed or told, so that nothing is proposed twice.
#pragma once

#include <cstddef>
#include <unordered_set>

#include "base/hash.h"
#include "space/space.h"

namespace tunesmith::search {

struct ConfigHash {
  std::size_t operator()(const space::Config& config) const {
    return hash64(config.at.data(), config.at.size() * sizeof(config.at[0]));
  }
};

using ConfigSet = std::unordered_set<space::Config, ConfigHash>;

}  // namespace tunesmith::search
