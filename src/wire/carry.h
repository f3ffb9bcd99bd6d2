// What the three formats' request writers share: refusing by name what a format cannot say, noting which
// hints are left out, and the changes of shape that carry one format's things in another's (private to
// wire/).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wire/format.h"

namespace tunesmith::wire {

/// Decides what becomes of things that do not fit. A hint changes cost or speed only: left out, with a note.
/// Anything else is refused by name, unless the operator allowed that name to be dropped.
class Losses {
 public:
  Losses(FormatId to, const Target& target, Written& written)
      : m_to(to), m_target(target), m_written(written) {}

  /// Refuses `name` ("tools.web_search"), or notes it and succeeds.
  [[nodiscard]] Status cannot(const std::string& name, const std::string& why) const;
  void note(std::string text) const;
  /// Foreign request fields: written back when they are of this format, else noted (hints) or refused.
  [[nodiscard]] Status fields(const std::vector<Foreign>& extra, Writer& w) const;

 private:
  FormatId m_to;
  const Target& m_target;
  Written& m_written;
};

/// Reads a request body: an object, without a key twice.
[[nodiscard]] Result<Document> parse_request(std::string body);
/// A required string.
[[nodiscard]] Result<std::string> need_string(const View& object, std::string_view key);
/// All members of `object` but the known ones.
[[nodiscard]] std::vector<Foreign> unknown_fields(FormatId format, const View& object,
                                                  const std::vector<std::string_view>& known,
                                                  std::string_view prefix = {});

void add_fields(Request& request, std::vector<Foreign> fields);

/// The messages with each tool call's results in the message right after it, neighbours of one role joined.
/// Chat and Messages refuse anything else; Responses clients send it. A call without a result, or a result
/// without a call, is refused by its id.
[[nodiscard]] Result<std::vector<Message>> results_adjacent(const std::vector<Message>& messages);

/// "mcp__files__read": a tool of a namespace in a format that has none.
[[nodiscard]] std::string flat_name(std::string_view space, std::string_view name);
/// The name under which the tool of a named choice leaves.
[[nodiscard]] std::string chosen_name(const Request& request);
/// Remembers in `written` that a tool leaves under another name or kind. Refuses two that become one.
[[nodiscard]] Status rename_tools(const Request& request, bool custom_allowed, Written& written);

/// A custom tool (free text) as a function of one string, and back.
[[nodiscard]] std::string custom_schema();
[[nodiscard]] std::string wrap_custom(std::string_view input);
/// The input of a wrapped call; text that is no such object is given back as it is.
[[nodiscard]] std::string unwrap_custom(const std::string& arguments);
[[nodiscard]] std::string custom_description(const Tool& tool);

/// About as many bytes as the request's JSON will have: growing a large body step by step costs more than
/// writing it.
[[nodiscard]] std::size_t size_of(const Request& request);
/// Texts joined by blank lines.
[[nodiscard]] std::string joined_text(const std::vector<Part>& parts);
/// "data:image/png;base64,…" to its two parts; false when it is none.
[[nodiscard]] bool split_data_url(std::string_view url, std::string& media_type, std::string& base64);
[[nodiscard]] std::string image_url(const Image& image);
/// Messages' tool_reference in a result ("this tool is now loaded") as text; any other foreign part is
/// refused.
[[nodiscard]] Result<std::string> tool_reference_text(const Foreign& part, const Losses& losses);
/// Says in text what formats without the flag cannot: the tool failed.
[[nodiscard]] std::string failed_text(std::string_view text);

/// Effort and budget of thinking stand for each other where a model knows only one.
[[nodiscard]] std::int64_t budget_of_effort(std::string_view effort);
[[nodiscard]] std::string effort_of_budget(std::int64_t tokens);

/// Arguments that are surely a JSON object: blank ones become {}; what a model wrote wrongly goes along as
/// {"invalid_json": "…"}, and `mended` says so.
[[nodiscard]] std::string arguments_object(const ToolCall& call, bool& mended);

}  // namespace tunesmith::wire
