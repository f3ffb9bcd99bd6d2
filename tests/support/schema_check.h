// A compact JSON Schema checker for the keywords that our schemas use: type, enum, const, required,
// properties, propertyNames, additionalProperties, items, minItems, maxItems, uniqueItems, minLength,
// pattern, minimum, maximum, exclusiveMinimum, oneOf, anyOf, allOf, not, boolean schemas and $ref to the same
// file. A keyword that it does not know is a fault, so that no rule of a schema is ever silently unchecked.
#pragma once

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace tunesmith::testing {

class SchemaCheck {
 public:
  explicit SchemaCheck(boost::json::value schema) : m_schema(std::move(schema)) {}

  /// One line a fault, "/pointer: what"; empty when the value is valid.
  std::vector<std::string> faults(const boost::json::value& value) const {
    std::vector<std::string> out;
    check(m_schema, value, "", out);
    return out;
  }

 private:
  using Value = boost::json::value;
  using Object = boost::json::object;
  using Faults = std::vector<std::string>;

  static bool is_integer(const Value& v) {
    return v.is_int64() || v.is_uint64() || (v.is_double() && v.get_double() == std::floor(v.get_double()));
  }
  static double number(const Value& v) {
    if (v.is_int64()) return static_cast<double>(v.get_int64());
    return v.is_uint64() ? static_cast<double>(v.get_uint64()) : v.get_double();
  }
  static bool has_type(const Value& v, std::string_view type) {
    if (type == "object") return v.is_object();
    if (type == "array") return v.is_array();
    if (type == "string") return v.is_string();
    if (type == "boolean") return v.is_bool();
    if (type == "null") return v.is_null();
    if (type == "number") return v.is_number();
    return type == "integer" && is_integer(v);
  }
  static bool same(const Value& a, const Value& b) {
    if (a.is_number() && b.is_number()) return number(a) == number(b);
    return a == b;
  }
  static std::string text(const Value& v) { return boost::json::serialize(v); }
  static std::string str(const Value& v) { return std::string(v.as_string()); }

  bool valid(const Value& schema, const Value& value) const {
    Faults none;
    check(schema, value, "", none);
    return none.empty();
  }

  void check(const Value& schema, const Value& value, const std::string& at, Faults& out) const {
    if (schema.is_bool()) {
      if (!schema.get_bool()) out.push_back(at + ": is not allowed");
      return;
    }
    for (const auto& rule : schema.as_object())
      keyword(rule.key(), rule.value(), schema.as_object(), value, at, out);
  }

  void keyword(std::string_view key, const Value& rule, const Object& schema, const Value& value,
               const std::string& at, Faults& out) const {
    static const std::set<std::string, std::less<>> notes = {"$schema", "$id",   "title",   "description",
                                                             "default", "$defs", "examples"};
    if (notes.contains(key)) return;
    const auto fault = [&](const std::string& what) { out.push_back(at + ": " + what); };
    if (key == "$ref") return check(resolve(str(rule)), value, at, out);
    if (key == "type") {
      bool fits = false;
      if (rule.is_string())
        fits = has_type(value, str(rule));
      else
        for (const Value& type : rule.as_array()) fits = fits || has_type(value, str(type));
      if (!fits) fault("must be of type " + text(rule));
    } else if (key == "enum") {
      const auto& list = rule.as_array();
      if (std::none_of(list.begin(), list.end(), [&](const Value& v) { return same(v, value); }))
        fault("must be one of " + text(rule));
    } else if (key == "const") {
      if (!same(rule, value)) fault("must be " + text(rule));
    } else if (key == "oneOf" || key == "anyOf" || key == "allOf") {
      std::size_t fits = 0;
      for (const Value& option : rule.as_array()) fits += valid(option, value) ? 1 : 0;
      const bool fine = key == "oneOf"   ? fits == 1
                        : key == "anyOf" ? fits > 0
                                         : fits == rule.as_array().size();
      if (!fine) fault("fits " + std::to_string(fits) + " of the forms under " + std::string(key));
    } else if (key == "not") {
      if (valid(rule, value)) fault("fits a form that is excluded");
    } else if (!of_object(key, rule, schema, value, at, out) && !of_array(key, rule, value, at, out) &&
               !of_scalar(key, rule, value, at, out)) {
      fault("the schema uses the keyword \"" + std::string(key) + "\", which this checker does not know");
    }
  }

  bool of_object(std::string_view key, const Value& rule, const Object& schema, const Value& value,
                 const std::string& at, Faults& out) const {
    static const std::set<std::string, std::less<>> known = {"required", "properties", "additionalProperties",
                                                             "propertyNames"};
    if (!known.contains(key)) return false;
    if (!value.is_object()) return true;
    const Object& object = value.get_object();
    if (key == "required") {
      for (const Value& name : rule.as_array()) {
        if (!object.contains(str(name))) out.push_back(at + ": the key " + text(name) + " is missing");
      }
    } else if (key == "properties") {
      for (const auto& property : rule.as_object()) {
        if (const Value* found = object.if_contains(property.key()))
          check(property.value(), *found, at + "/" + std::string(property.key()), out);
      }
    } else if (key == "propertyNames") {
      for (const auto& member : object)
        check(rule, Value(member.key()), at + "/" + std::string(member.key()), out);
    } else {
      const Value* named = schema.if_contains("properties");
      for (const auto& member : object) {
        if (named != nullptr && named->as_object().contains(member.key())) continue;
        check(rule, member.value(), at + "/" + std::string(member.key()), out);
      }
    }
    return true;
  }

  bool of_array(std::string_view key, const Value& rule, const Value& value, const std::string& at,
                Faults& out) const {
    static const std::set<std::string, std::less<>> known = {"items", "minItems", "maxItems", "uniqueItems"};
    if (!known.contains(key)) return false;
    if (!value.is_array()) return true;
    const auto& array = value.get_array();
    if (key == "items") {
      for (std::size_t i = 0; i < array.size(); ++i) check(rule, array[i], at + "/" + std::to_string(i), out);
    } else if (key == "minItems") {
      if (static_cast<double>(array.size()) < number(rule)) out.push_back(at + ": has too few items");
    } else if (key == "maxItems") {
      if (static_cast<double>(array.size()) > number(rule)) out.push_back(at + ": has too many items");
    } else {
      for (std::size_t i = 0; i < array.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          if (same(array[i], array[j])) out.push_back(at + "/" + std::to_string(i) + ": stands there twice");
        }
      }
    }
    return true;
  }

  static bool of_scalar(std::string_view key, const Value& rule, const Value& value, const std::string& at,
                        Faults& out) {
    const auto fault = [&](const std::string& what) { out.push_back(at + ": " + what + " " + text(rule)); };
    if (key == "pattern") {
      if (value.is_string() && !std::regex_search(str(value), std::regex(str(rule), std::regex::ECMAScript)))
        fault("must match");
    } else if (key == "minLength") {
      if (value.is_string() && static_cast<double>(value.get_string().size()) < number(rule))
        fault("is shorter than");
    } else if (key == "minimum") {
      if (value.is_number() && !(number(value) >= number(rule))) fault("must be at least");
    } else if (key == "maximum") {
      if (value.is_number() && !(number(value) <= number(rule))) fault("must be at most");
    } else if (key == "exclusiveMinimum") {
      if (value.is_number() && !(number(value) > number(rule))) fault("must be above");
    } else {
      return false;
    }
    return true;
  }

  const Value& resolve(const std::string& reference) const {
    boost::system::error_code error;
    static const Value nothing = false;
    const Value* found =
        reference.starts_with("#") ? m_schema.find_pointer(reference.substr(1), error) : nullptr;
    return found != nullptr ? *found : nothing;
  }

  Value m_schema;
};

}  // namespace tunesmith::testing
