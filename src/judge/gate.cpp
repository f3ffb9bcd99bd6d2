#include "judge/gate.h"

#include <cmath>

#include "base/hash.h"
#include "base/text.h"
#include "judge/figure_table.h"

namespace tunesmith::judge {

namespace {

constexpr const char* k_kinds[] = {"numerical", "performance", "engineering"};

const char* name_of(Need need) {
  switch (need) {
    case Need::required:
      return "required";
    case Need::optional:
      return "optional";
    case Need::not_measurable_here:
      return "not_measurable_here";
  }
  return "required";
}

Result<Need> need_from(const Node& node) {
  TS_ASSIGN(const std::string text, node.as_string());
  for (const Need need : {Need::required, Need::optional, Need::not_measurable_here}) {
    if (text == name_of(need)) return need;
  }
  return node.error(fmt::format("unknown state \"{}\"", printable(text)),
                    "write required, optional or not_measurable_here");
}

Result<std::optional<double>> bound_from(const Node& node, std::string_view key) {
  const auto found = node.find(key);
  if (!found) return std::optional<double>();
  TS_ASSIGN(const double bound, found->as_double());
  if (!std::isfinite(bound)) return found->error("must be finite");
  return std::optional<double>(bound);
}

Result<Requirement> requirement_from(const std::string& kind, const std::string& figure, const Node& node,
                                     double tol) {
  const FigureInfo* info = find_figure(figure);
  if (info == nullptr) {
    const std::string near = nearest(figure, figure_names());
    return node.error(fmt::format("unknown figure \"{}\"", printable(figure)),
                      near.empty() ? "known figures are " + join(figure_names(), ", ")
                                   : fmt::format("did you mean \"{}\"?", near));
  }
  if (kind != info->kind) {
    return node.error(fmt::format("{} is a {} figure", figure, info->kind),
                      fmt::format("move it under \"{}\"", info->kind));
  }
  Requirement requirement{figure, Need::required, {}, {}, kind, info->reason};
  if (node.is_string()) {
    TS_ASSIGN(requirement.need, need_from(node));
  } else {
    TS_TRY(node.only_keys({"need", "at_most", "at_least"}));
    if (const auto need = node.find("need")) {
      TS_ASSIGN(requirement.need, need_from(*need));
    }
    TS_ASSIGN(requirement.at_most, bound_from(node, "at_most"));
    TS_ASSIGN(requirement.at_least, bound_from(node, "at_least"));
  }
  if (requirement.at_most && requirement.at_least && *requirement.at_most < *requirement.at_least) {
    return node.error(
        fmt::format("at_most {} is below at_least {}", *requirement.at_most, *requirement.at_least));
  }
  if (!requirement.at_most && !requirement.at_least) {
    if (figure == "max_abs_error") requirement.at_most = tol;
    if (info->at_most) requirement.at_most = info->at_most;
    if (info->at_least) requirement.at_least = info->at_least;
  }
  return requirement;
}

Result<Floor> floor_from(const Node& node) {
  TS_TRY(node.only_keys({"device", "shape", "baseline", "min_tflops"}));
  Floor floor;
  TS_ASSIGN(floor.device, node.string_or("device", ""));
  TS_ASSIGN(floor.shape, node.string_or("shape", ""));
  TS_ASSIGN(floor.baseline, node.string_or("baseline", ""));
  TS_ASSIGN(const Node bound, node.get("min_tflops"));
  TS_ASSIGN(floor.min_tflops, bound.as_double());
  if (!std::isfinite(floor.min_tflops) || floor.min_tflops < 0)
    return bound.error("must be a finite number of at least 0");
  return floor;
}

Result<RollbackPolicy> rollback_from(const Node& node) {
  TS_TRY(node.only_keys({"on", "after"}));
  RollbackPolicy policy;
  TS_ASSIGN(const std::string on, node.string_or("on", "regressions"));
  if (on == "regressions") {
    policy.on = RollbackPolicy::On::regressions;
  } else if (on == "any_failure") {
    policy.on = RollbackPolicy::On::any_failure;
  } else if (on == "ask") {
    policy.on = RollbackPolicy::On::ask;
  } else {
    return node.get("on")->error(fmt::format("unknown rollback policy \"{}\"", printable(on)),
                                 "write regressions, any_failure or ask");
  }
  TS_ASSIGN(const std::int64_t after, node.int_or("after", 1));
  if (after < 1 || after > 1'000'000) return node.get("after")->error("must be a whole number of at least 1");
  policy.after = static_cast<int>(after);
  return policy;
}

}  // namespace

Gate Gate::standard(double tol) {
  Gate gate;
  gate.tol = tol;
  gate.requirements = {
      {"max_abs_error", Need::required, tol, {}, "numerical", Reason::wrong_result},
      {"latency_ms", Need::required, {}, {}, "performance", Reason::below_floor},
      {"tflops", Need::required, {}, {}, "performance", Reason::below_floor},
      // The article reads an absent compile_fail as 0.
      {"compile_fail", Need::optional, 0.0, {}, "engineering", Reason::build_failed},
  };
  return gate;
}

Result<Gate> Gate::from_json(const Node& node, double default_tol) {
  TS_TRY(node.only_keys({"$schema", "tol", "numerical", "performance", "engineering", "floors", "rollback"}));
  TS_ASSIGN(const double tol, node.double_or("tol", default_tol));
  if (!std::isfinite(tol) || tol < 0) return node.get("tol")->error("must be a finite number of at least 0");
  Gate gate = standard(tol);
  for (const char* kind : k_kinds) {
    const auto section = node.find(kind);
    if (!section) continue;
    TS_ASSIGN(const auto members, section->members());
    for (const auto& [figure, value] : members) {
      TS_ASSIGN(Requirement requirement, requirement_from(kind, figure, value, tol));
      const auto same = std::find_if(gate.requirements.begin(), gate.requirements.end(),
                                     [&](const Requirement& r) { return r.figure == requirement.figure; });
      if (same != gate.requirements.end()) {
        *same = requirement;
      } else {
        gate.requirements.push_back(requirement);
      }
    }
  }
  if (const auto floors = node.find("floors")) {
    TS_ASSIGN(const auto items, floors->items());
    for (const Node& item : items) {
      TS_ASSIGN(Floor floor, floor_from(item));
      gate.floors.push_back(std::move(floor));
    }
  }
  if (const auto rollback = node.find("rollback")) {
    TS_ASSIGN(gate.rollback, rollback_from(*rollback));
  }
  return gate;
}

Result<Gate> Gate::of_case(const Case& c, const std::string& file) {
  if (!file.empty()) {
    TS_ASSIGN(const Node node, Node::read(file));
    return from_json(node, c.tolerance.absolute);
  }
  if (c.gate) return from_json(*c.gate, c.tolerance.absolute);
  Gate gate = standard(c.tolerance.absolute);
  // With a relative part the element-wise check decides; one absolute bound would refuse honest large values.
  if (c.tolerance.relative > 0) gate.requirements.front().at_most.reset();
  return gate;
}

json::object Gate::to_json() const {
  json::object out{{"tol", tol}};
  for (const char* kind : k_kinds) {
    json::object section;
    for (const Requirement& r : requirements) {
      if (r.kind != kind) continue;
      json::object entry{{"need", name_of(r.need)}};
      if (r.at_most) entry["at_most"] = *r.at_most;
      if (r.at_least) entry["at_least"] = *r.at_least;
      section[r.figure] = std::move(entry);
    }
    out[kind] = std::move(section);
  }
  json::array list;
  for (const Floor& f : floors) {
    list.push_back(json::object{
        {"device", f.device}, {"shape", f.shape}, {"baseline", f.baseline}, {"min_tflops", f.min_tflops}});
  }
  out["floors"] = std::move(list);
  const char* on = rollback.on == RollbackPolicy::On::regressions   ? "regressions"
                   : rollback.on == RollbackPolicy::On::any_failure ? "any_failure"
                                                                    : "ask";
  out["rollback"] = json::object{{"on", on}, {"after", rollback.after}};
  return out;
}

std::string Gate::sha256() const { return sha256_hex(print_json_compact(to_json())); }

}  // namespace tunesmith::judge
