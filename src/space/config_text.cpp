// Configurations as JSON and as text.
#include <fmt/format.h>

#include "base/text.h"
#include "space/space.h"

namespace tunesmith::space {

const Value& Space::value(const Config& config, std::size_t parameter) const {
  return m_parameters[parameter].values[config.at[parameter]];
}

std::vector<Value> Space::values(const Config& config) const {
  std::vector<Value> values;
  values.reserve(m_parameters.size());
  for (std::size_t i = 0; i < m_parameters.size(); ++i) values.push_back(value(config, i));
  return values;
}

json::object Space::to_json(const Config& config) const {
  json::object object;
  for (std::size_t i = 0; i < m_parameters.size(); ++i)
    object[m_parameters[i].name] = value_to_json(value(config, i));
  return object;
}

std::string Space::text(const Config& config) const {
  std::string text;
  for (std::size_t i = 0; i < m_parameters.size(); ++i)
    text += fmt::format("{}{}={}", i == 0 ? "" : " ", m_parameters[i].name, value_text(value(config, i)));
  return text;
}

Result<Config> Space::from_json(const Node& node) const {
  std::vector<std::string> names;
  for (const Parameter& parameter : m_parameters) names.push_back(parameter.name);
  TS_TRY(node.members());  // an object at all
  TS_TRY(node.only_keys(names));
  Config config;
  for (const Parameter& parameter : m_parameters) {
    std::vector<std::string> known;
    for (const Value& value : parameter.values) known.push_back(value_text(value));
    const std::string choice = cut(printable(join(known, ", ")), 200);
    const std::optional<Node> given = node.find(parameter.name);
    if (!given)
      return node.error(fmt::format("the parameter '{}' is missing", parameter.name),
                        "give it one of " + choice);
    TS_ASSIGN(const Value wished, value_from_json(*given));
    std::uint32_t at = 0;
    while (at < parameter.values.size() && !equal(parameter.values[at], wished)) ++at;
    if (at == parameter.values.size())
      return given->error(
          fmt::format("{} is not a value of '{}'", printable(value_text(wished)), parameter.name),
          "use one of " + choice);
    config.at.push_back(at);
  }
  return config;
}

}  // namespace tunesmith::space
