#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "tune/runs.h"

namespace tunesmith::tune {

namespace {

constexpr const char* k_seal = "seal";

/// A keyed hash in two layers, so that knowing one seal does not help to extend it to another text.
std::string keyed_hash(const json::object& result, const std::string& key) {
  json::object bare = result;
  bare.erase(k_seal);
  Hasher inner;
  inner.field(key).field(print_json_compact(bare));
  Hasher outer;
  return outer.field(key).field(inner.hex()).hex();
}

}  // namespace

void seal(json::object& result, const std::string& run, std::int64_t trial, const std::string& key) {
  result.erase(k_seal);
  const std::string hash = keyed_hash(result, key);
  result[k_seal] = json::object{{"run", run}, {"trial", trial}, {"sha256", hash}};
}

SealAnswer verify_seal(const json::object& result, const std::string& root) {
  const json::value* value = result.if_contains(k_seal);
  if (value == nullptr || !value->is_object())
    return {Seal::unsealed, "it carries no seal: this bench did not make it"};
  const json::object& given = value->get_object();
  const json::value* run = given.if_contains("run");
  const json::value* hash = given.if_contains("sha256");
  if (run == nullptr || !run->is_string() || hash == nullptr || !hash->is_string())
    return {Seal::broken, "its seal is torn"};
  const std::string name(run->get_string());
  // The name comes from a file that anybody may have written.
  if (name.empty() || name.front() == '.' || name.find('/') != std::string::npos)
    return {Seal::broken, "its seal names no run"};
  const auto journal = Journal::read_only(root + "/" + name);
  if (!journal) {
    return {Seal::unsealed,
            fmt::format("its run {} is not here, so its seal cannot be checked", printable(cut(name, 80)))};
  }
  if (keyed_hash(result, journal->header().seal_key) != std::string_view(hash->get_string())) {
    return {Seal::broken, fmt::format("it was changed after run {} had sealed it", printable(cut(name, 80)))};
  }
  return {Seal::sealed, "sealed by run " + name};
}

}  // namespace tunesmith::tune
