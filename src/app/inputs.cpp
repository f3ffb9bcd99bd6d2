#include "app/inputs.h"

namespace tunesmith::app {

Result<Rules> rules_of(const Case& c, const Arguments& arguments) {
  Rules rules;
  rules.of = c;
  TS_ASSIGN(rules.objective, judge::Objective::of_case(c, arguments.text("--objective")));
  TS_ASSIGN(rules.gate, judge::Gate::of_case(c, arguments.text("--gate")));
  return rules;
}

Result<Rules> read_rules(const Context& context) {
  const Arguments& arguments = context.arguments;
  const std::string file = arguments.text("--case", arguments.text("CASE"));
  if (!file.empty()) {
    TS_ASSIGN(const Case c, load_case(file));
    return rules_of(c, arguments);
  }
  Rules rules;
  if (arguments.has("--objective")) {
    TS_ASSIGN(const Node node, Node::read(arguments.text("--objective")));
    TS_ASSIGN(rules.objective, judge::Objective::from_json(node));
  }
  if (arguments.has("--gate")) {
    TS_ASSIGN(const Node node, Node::read(arguments.text("--gate")));
    TS_ASSIGN(rules.gate, judge::Gate::from_json(node));
  } else {
    rules.gate = judge::Gate::standard(rules.objective.tol());
  }
  return rules;
}

}  // namespace tunesmith::app
