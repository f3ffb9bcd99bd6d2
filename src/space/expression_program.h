// What an Expression shares between its copies. Only space/ sees it: the diagram evaluates parts of trees.
#pragma once

#include "space/tree.h"

namespace tunesmith::space {

struct Expression::Program {
  std::string text;
  Place place;
  Tree tree;
  std::vector<std::size_t> used;
};

/// "in "a / b": division by zero", at the place of the operator.
[[nodiscard]] Error evaluation_error(const std::string& text, const Place& place, const Tree& tree,
                                     const EvaluationFault& fault);

}  // namespace tunesmith::space
