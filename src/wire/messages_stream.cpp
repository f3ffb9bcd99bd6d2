// Anthropic Messages: streams, both ways.
#include <fmt/format.h>

#include <map>

#include "wire/messages.h"

namespace tunesmith::wire {

namespace {

class MessagesReader : public StreamReader {
 public:
  MessagesReader() : StreamReader(FormatId::messages) {}

 protected:
  bool whole_at_end(Events& out) override {
    if (m_stop.empty()) return false;
    end(out);
    return true;
  }

  bool on_word(std::string_view data, Events& /*out*/) override {
    return data == "[DONE]";
  }  // some relays add it

  void on_event(const SseEvent& event, const View& root, Events& out) override {
    const std::string type = root["type"].is_string() ? root["type"].str() : event.event;
    if (type == "message_start") {
      const View message = root["message"];
      m_meter.tell(message["usage"], true);
      start(message["id"].str(), message["model"].str(), out);
    } else if (type == "content_block_start") {
      begin(root, out);
    } else if (type == "content_block_delta") {
      piece(root, out);
    } else if (type == "content_block_stop") {
      const auto found = m_blocks.find(root["index"].integer().value_or(0));
      if (found != m_blocks.end()) close(found->second, out);
    } else if (type == "message_delta") {
      m_meter.tell(root["usage"]);
      const View change = root["delta"];
      if (change["stop_reason"].is_string()) {
        m_stop = change["stop_reason"].str();
        m_sequence = change["stop_sequence"].str();
        set_complete();
      }
    } else if (type == "message_stop") {
      end(out);
    } else if (type == "ping") {
      out.emplace_back(Ping{});
    } else if (type == "error" || root["error"].given()) {
      failed(read_error(0, root), out);
    }
    // Other types are new to us and mean nothing to the reply.
  }

 private:
  struct Block {
    int part = -1;
    bool call = false;
    bool told = false;        ///< a piece of the input has come
    std::string whole_input;  ///< what the start already held
  };

  void begin(const View& root, Events& out) {
    const View content = root["content_block"];
    auto read = read_block(content);
    if (!read) {
      cut("a content block cannot be read: " + read.error().message, out);
      return;
    }
    Block block;
    Part head = std::move(*read);
    std::string first;
    std::string seal;
    if (auto* call = std::get_if<ToolCall>(&head.is)) {
      block.call = true;
      block.whole_input = std::move(call->arguments);
      call->arguments.clear();
    } else if (auto* text = std::get_if<Text>(&head.is)) {
      first = std::move(text->text);
      text->text.clear();
    } else if (auto* thinking = std::get_if<Thinking>(&head.is); thinking != nullptr && !thinking->redacted) {
      first = std::move(thinking->text);
      seal = std::move(thinking->seal);
      thinking->text.clear();
      thinking->seal.clear();
    }
    block.part = start_part(std::move(head), out);
    delta(block.part, DeltaField::text, first, out);
    delta(block.part, DeltaField::seal, seal, out);
    m_blocks[root["index"].integer().value_or(0)] = std::move(block);
  }

  void piece(const View& root, Events& out) {
    const auto found = m_blocks.find(root["index"].integer().value_or(0));
    if (found == m_blocks.end()) return;
    Block& block = found->second;
    const View change = root["delta"];
    const std::string type = change["type"].str();
    if (type == "text_delta") {
      delta(block.part, DeltaField::text, change["text"].str(), out);
    } else if (type == "thinking_delta") {
      delta(block.part, DeltaField::text, change["thinking"].str(), out);
    } else if (type == "signature_delta") {
      delta(block.part, DeltaField::seal, change["signature"].str(), out);
    } else if (type == "input_json_delta" && block.call) {
      const std::string text = change["partial_json"].str();
      block.told = block.told || !text.empty();
      delta(block.part, DeltaField::arguments, text, out);
    }
  }

  /// A tool's input that came at once in the start, or never, is told before the block ends.
  void close(Block& block, Events& out) {
    if (block.call && !block.told) delta(block.part, DeltaField::arguments, block.whole_input, out);
    block.told = true;
    end_part(block.part, out);
  }

  void end(Events& out) {
    for (auto& [index, block] : m_blocks) close(block, out);
    const StopReason stop = messages_stop(m_stop, any_calls());
    finished(stop,
             stop == StopReason::unknown         ? m_stop
             : stop == StopReason::stop_sequence ? m_sequence
                                                 : "",
             out);
  }

  std::map<std::int64_t, Block> m_blocks;
  std::string m_stop;
  std::string m_sequence;
};

class MessagesWriter : public StreamWriter {
 public:
  explicit MessagesWriter(StreamOptions options) : m_options(std::move(options)) {}

  void write(const Event& event, std::string& out) override {
    const std::vector<Event> events = m_sequencer.take(event);
    for (const Event& one : events) {
      if (!m_ended) put(one, out);
    }
  }

 private:
  static void send(std::string_view type, std::string_view data, std::string& out) {
    sse_encode(type, data, out);
  }

  void put(const Event& event, std::string& out) {
    if (const auto* start = std::get_if<Start>(&event)) {
      std::string data;
      Writer w(data);
      w.open('{').field("type", "message_start").key("message").open('{').field("id", start->id);
      w.field("type", "message").field("role", "assistant");
      w.field("model", m_options.model.empty() ? start->model : m_options.model)
          .key("content")
          .open('[')
          .close(']');
      w.field_null("stop_reason").field_null("stop_sequence");
      w.field_raw("usage", write_usage(FormatId::messages, start->usage)).close('}').close('}');
      send("message_start", data, out);
    } else if (const auto* part = std::get_if<PartStart>(&event)) {
      begin(*part, out);
    } else if (const auto* piece = std::get_if<PartDelta>(&event)) {
      append(*piece, out);
    } else if (std::holds_alternative<PartEnd>(event)) {
      end_block(out);
    } else if (std::holds_alternative<Ping>(event)) {
      send("ping", R"({"type":"ping"})", out);
    } else if (const auto* finished = std::get_if<Finished>(&event)) {
      finish(*finished, out);
    } else if (const auto* failed = std::get_if<Failed>(&event)) {
      error(failed->error, out);
    } else if (const auto* cut = std::get_if<Cut>(&event)) {
      ApiError broken;
      broken.message = cut->reason;
      error(broken, out);
    }
  }

  void begin(const PartStart& part, std::string& out) {
    m_custom.reset();
    m_ours = true;
    m_thinking = false;
    Part head = part.head;
    if (auto* call = std::get_if<ToolCall>(&head.is)) {
      if (call->custom) m_custom = std::string();
      call->custom = false;
      call->arguments.clear();
    } else if (const auto* thinking = std::get_if<Thinking>(&head.is)) {
      m_thinking = true;
      m_ours = thinking->sealed_by == FormatId::messages;
    }
    std::string block;
    Writer b(block);
    const Status written = write_reply_block(head, b);
    if (!written) {
      ApiError broken;
      broken.message = written.error().message;
      error(broken, out);
      return;
    }
    std::string data;
    Writer w(data);
    w.open('{')
        .field("type", "content_block_start")
        .field("index", m_index)
        .field_raw("content_block", block)
        .close('}');
    send("content_block_start", data, out);
  }

  void append(const PartDelta& piece, std::string& out) {
    if (m_custom) {  // free text becomes a JSON object, which needs all of it
      *m_custom += piece.text;
      return;
    }
    switch (piece.field) {
      case DeltaField::text:
        change(m_thinking ? "thinking_delta" : "text_delta", m_thinking ? "thinking" : "text", piece.text,
               out);
        break;
      case DeltaField::arguments:
        change("input_json_delta", "partial_json", piece.text, out);
        break;
      case DeltaField::seal:
        if (m_ours) change("signature_delta", "signature", piece.text, out);
        break;
    }
  }

  void change(std::string_view type, std::string_view field, std::string_view text, std::string& out) const {
    std::string data;
    Writer w(data);
    w.open('{').field("type", "content_block_delta").field("index", m_index).key("delta").open('{');
    w.field("type", type).field(field, text).close('}').close('}');
    send("content_block_delta", data, out);
  }

  void end_block(std::string& out) {
    if (m_custom) change("input_json_delta", "partial_json", wrap_custom(*m_custom), out);
    m_custom.reset();
    std::string data;
    Writer(data).open('{').field("type", "content_block_stop").field("index", m_index).close('}');
    send("content_block_stop", data, out);
    ++m_index;
  }

  /// The true figures stand here, in the last event: other formats know them no sooner.
  void finish(const Finished& finished, std::string& out) {
    std::string data;
    Writer w(data);
    w.open('{').field("type", "message_delta").key("delta").open('{');
    w.field("stop_reason", messages_stop_word(finished.stop));
    if (finished.stop == StopReason::stop_sequence && !finished.stop_text.empty()) {
      w.field("stop_sequence", finished.stop_text);
    } else {
      w.field_null("stop_sequence");
    }
    w.close('}').field_raw("usage", write_usage(FormatId::messages, finished.usage)).close('}');
    send("message_delta", data, out);
    send("message_stop", R"({"type":"message_stop"})", out);
    m_ended = true;
  }

  void error(const ApiError& what, std::string& out) {
    send("error", messages_error_body(what), out);
    m_ended = true;
  }

  StreamOptions m_options;
  Sequencer m_sequencer;
  std::int64_t m_index = 0;
  std::optional<std::string> m_custom;
  bool m_thinking = false;  ///< of the open block
  bool m_ours = true;       ///< its seal is this format's
  bool m_ended = false;
};

}  // namespace

std::unique_ptr<StreamReader> messages_reader() { return std::make_unique<MessagesReader>(); }

std::unique_ptr<StreamWriter> messages_writer(const StreamOptions& options) {
  return std::make_unique<MessagesWriter>(options);
}

}  // namespace tunesmith::wire
