#include "space/tree.h"

#include <algorithm>

namespace tunesmith::space {

void Tree::conjuncts(std::uint32_t node, std::vector<std::uint32_t>& out) const {
  const TreeNode& at = nodes[node];
  if (at.op != Op::both && at.op != Op::both_c) {
    out.push_back(node);
    return;
  }
  conjuncts(children[at.first], out);
  conjuncts(children[at.first + 1], out);
}

std::vector<std::size_t> Tree::used(std::uint32_t node) const {
  std::vector<std::size_t> slots;
  std::vector<std::uint32_t> open = {node};
  while (!open.empty()) {
    const TreeNode& at = nodes[open.back()];
    open.pop_back();
    if (at.op == Op::name) slots.push_back(at.slot);
    for (std::uint32_t i = 0; i < at.count; ++i) open.push_back(children[at.first + i]);
  }
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  return slots;
}

}  // namespace tunesmith::space
