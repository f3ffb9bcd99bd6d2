// Errors of every provider in one form. Sources: the SDKs' type files; what DeepSeek, OpenRouter, vLLM,
// FastAPI and plain proxies answer ({"error": "text"}, {"message"}, {"detail"}, HTML, nothing).
#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "wire/format.h"

namespace tunesmith::wire {

namespace {

struct Word {
  std::string_view word;
  ErrorKind kind;
};

// Types and codes that say more than the status does.
constexpr std::array k_words = {
    Word{"budget_exceeded", ErrorKind::budget},
    Word{"context_length_exceeded", ErrorKind::context_too_long},
    Word{"insufficient_quota", ErrorKind::billing},
    Word{"usage_limit_reached", ErrorKind::billing},
    Word{"usage_not_included", ErrorKind::billing},
    Word{"enforced_spend_limit_reached", ErrorKind::billing},
    Word{"billing_error", ErrorKind::billing},
    Word{"rate_limit_exceeded", ErrorKind::rate_limit},
    Word{"rate_limit_error", ErrorKind::rate_limit},
    Word{"authentication_error", ErrorKind::authentication},
    Word{"invalid_api_key", ErrorKind::authentication},
    Word{"permission_error", ErrorKind::permission},
    Word{"not_found_error", ErrorKind::not_found},
    Word{"model_not_found", ErrorKind::not_found},
    Word{"request_too_large", ErrorKind::too_large},
    Word{"overloaded_error", ErrorKind::overloaded},
    Word{"server_is_overloaded", ErrorKind::overloaded},
    Word{"insufficient_system_resource", ErrorKind::overloaded},
    Word{"timeout_error", ErrorKind::timeout},
    Word{"server_error", ErrorKind::server},
    Word{"api_error", ErrorKind::server},
    Word{"invalid_request_error", ErrorKind::invalid_request},
    Word{"invalid_prompt", ErrorKind::invalid_request},
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

ErrorKind kind_of(int status, const ApiError& error) {
  // Told in words alone by some; the clients match the same words.
  if (contains(error.message, "prompt is too long") || contains(error.message, "maximum context length"))
    return ErrorKind::context_too_long;
  if (contains(error.message, "credit balance is too low")) return ErrorKind::billing;
  for (const std::string* name : {&error.code, &error.type}) {
    for (const Word& word : k_words) {
      // "invalid_request_error" and "server_error" stand beside many a status; then the status knows better.
      const bool vague = word.kind == ErrorKind::invalid_request || word.kind == ErrorKind::server;
      if (*name == word.word && (!vague || status == 0)) return word.kind;
    }
  }
  // Inside a stream some give the status as the code.
  if (status == 0 && error.code.size() == 3 &&
      error.code.find_first_not_of("0123456789") == std::string::npos) {
    status = std::stoi(error.code);
  }
  switch (status) {
    case 401:
      return ErrorKind::authentication;
    case 402:
      return ErrorKind::billing;
    case 403:
      return ErrorKind::permission;
    case 404:
      return ErrorKind::not_found;
    case 408:
    case 504:
      return ErrorKind::timeout;
    case 413:
      return ErrorKind::too_large;
    case 429:
      return ErrorKind::rate_limit;
    case 503:
    case 529:
      return ErrorKind::overloaded;
    default:
      return status >= 400 && status < 500 ? ErrorKind::invalid_request : ErrorKind::server;
  }
}

std::string text_of(const View& value) {
  if (value.is_string()) return value.str();
  return value.is_number() ? std::string(value.raw()) : "";
}

}  // namespace

ApiError read_error(int status, const View& root) {
  ApiError error;
  error.status = status;
  const View inner = root["error"];
  const View from = inner.is_object() ? inner : root;
  error.message = from["message"].str();
  if (error.message.empty() && inner.is_string()) error.message = inner.str();
  if (error.message.empty()) error.message = root["message"].str();
  if (error.message.empty() && root["detail"].given()) {
    error.message = root["detail"].is_string() ? root["detail"].str() : cut(root["detail"].raw(), 500);
  }
  error.code = text_of(from["code"]);
  if (error.code.empty()) error.code = text_of(from["details"]["error_code"]);
  error.param = text_of(from["param"]);
  error.request_id = text_of(root["request_id"]);
  // In {"type": "error", …} the outer type is an envelope's.
  error.type = text_of(from["type"]);
  if (error.type == "error") error.type.clear();
  if (error.message.empty()) {
    error.message = !error.code.empty()   ? error.code
                    : !error.type.empty() ? error.type
                                          : fmt::format("HTTP {} without a message", status);
  }
  error.kind = kind_of(status, error);
  return error;
}

ApiError read_error(int status, std::string_view body) {
  const std::string_view text = trim(body);
  if (!text.empty() && text.front() == '{') {
    if (const auto document = Document::parse(std::string(text), "error body")) {
      return read_error(status, document->root());
    }
  }
  ApiError error;
  error.status = status;
  if (text.empty()) {
    error.message = fmt::format("HTTP {} with an empty body", status);
  } else if (text.front() == '<') {
    error.message = fmt::format(
        "HTTP {} with an HTML page: this address is no model server, or a proxy answered", status);
  } else {
    error.message = printable(cut(text, 500));
  }
  error.kind = kind_of(status, error);
  return error;
}

HttpAnswer stop_answer(FormatId client, const std::string& message) {
  ApiError error;
  error.kind = ErrorKind::budget;
  error.message = message;
  return format(client).write_error(error);
}

}  // namespace tunesmith::wire
