// From one format to another, both ways: requests, whole replies, streams, errors. Everything goes through
// the neutral form of message.h, so three formats need three readers and three writers, not six translators.
// What the other side cannot say is refused by name; what is only a hint is left out and noted.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "wire/format.h"

namespace tunesmith::wire {

/// What the way back needs to know of the way there.
struct ReplyContext {
  std::vector<RenamedTool> renamed;
  bool stream = false;
  bool stream_usage = false;  ///< Chat clients see the usage chunk only if they asked
  std::string model;          ///< the name the client used
};

struct TranslatedRequest {
  std::string body;
  std::vector<std::string> notes;
  ReplyContext context;
};

/// `invalid`, naming the field, item or tool, when the body is no request of `from` or cannot be said in
/// `to`.
[[nodiscard]] Result<TranslatedRequest> translate_request(FormatId from, FormatId to, std::string body,
                                                          const Target& target);

/// A whole reply of `from` (the upstream) for a client of `to`. `usage` gets the figures, if not null.
[[nodiscard]] Result<std::string> translate_reply(FormatId from, FormatId to, std::string body,
                                                  const ReplyContext& context, const StreamOptions& options,
                                                  Usage* usage = nullptr);

/// An upstream's refusal for a client of `to`: a status that makes that client do what the refusal means.
[[nodiscard]] HttpAnswer translate_error(FormatId to, int status, std::string_view body);

/// Gives tools their own names back, and custom tools their free text. A call of a custom tool is held until
/// it is whole, since its text is inside JSON.
class ToolNames {
 public:
  explicit ToolNames(std::vector<RenamedTool> renamed) : m_renamed(std::move(renamed)) {}
  void restore(Reply& reply) const;
  [[nodiscard]] std::vector<Event> restore(Event event);

 private:
  [[nodiscard]] bool rename(ToolCall& call) const;  ///< true: its arguments are wrapped
  std::vector<RenamedTool> m_renamed;
  std::vector<std::pair<int, std::string>> m_wrapped;  ///< open parts and their arguments so far
};

/// A streamed reply. Bytes in, bytes out; the first leave as soon as they can.
class StreamTranslator {
 public:
  StreamTranslator(FormatId from, FormatId to, const ReplyContext& context, StreamOptions options);

  void feed(std::string_view bytes, std::string& out);
  void finish(std::string& out);  ///< the upstream's connection has ended
  /// Ends the client's stream in valid form with the reason "output limit" and closes: a budget's stop. What
  /// the upstream still sends is ignored. Clients take this as an answer and do not ask again.
  void stop(std::string& out);

  [[nodiscard]] const StreamReader& reader() const { return *m_reader; }
  [[nodiscard]] bool ended() const { return m_stopped || m_reader->ended(); }

 private:
  void pass(std::string& out);
  std::unique_ptr<StreamReader> m_reader;
  std::unique_ptr<StreamWriter> m_writer;
  ToolNames m_names;
  std::vector<Event> m_events;
  bool m_started = false;
  bool m_stopped = false;
};

}  // namespace tunesmith::wire
