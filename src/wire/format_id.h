// The three formats by name.
#pragma once

#include <string_view>

namespace tunesmith::wire {

enum class FormatId {
  chat,       ///< OpenAI Chat Completions
  responses,  ///< OpenAI Responses
  messages,   ///< Anthropic Messages
};

[[nodiscard]] std::string_view format_name(FormatId id);  ///< "chat", "responses", "messages"

}  // namespace tunesmith::wire
