// Chat Completions: streams, both ways.
#include <fmt/format.h>

#include <map>

#include "wire/chat.h"

namespace tunesmith::wire {

namespace {

class ChatReader : public StreamReader {
 public:
  ChatReader() : StreamReader(FormatId::chat) {}

 protected:
  bool on_word(std::string_view data, Events& out) override {
    if (data != "[DONE]") return false;
    end(out);
    return true;
  }

  bool whole_at_end(Events& out) override {
    // Some servers close without [DONE]; a told reason to stop is end enough.
    if (m_finish.empty()) return false;
    end(out);
    return true;
  }

  void on_event(const SseEvent& /*event*/, const View& root, Events& out) override {
    if (root["error"].given()) {
      failed(read_error(0, root), out);
      return;
    }
    // Usage stands with choices, without, or inside a choice; the last that is not null counts.
    m_meter.tell(root["usage"]);
    if (root["id"].is_string() || root["choices"].is_array())
      start(root["id"].str(), root["model"].str(), out);
    const std::vector<View> choices = root["choices"].items();
    for (const View& choice : choices) {
      if (choice["index"].integer().value_or(0) != 0) continue;
      m_meter.tell(choice["usage"]);
      read_delta(choice["delta"], out);
      const std::string word = choice["finish_reason"].str();
      if (word.empty()) continue;
      m_finish = word;
      set_complete();
      if (word == "error" || word == "insufficient_system_resource") {
        ApiError error;
        error.kind = ErrorKind::overloaded;
        error.code = word;
        error.message = fmt::format("the provider stopped the reply: {}", word);
        failed(std::move(error), out);
        return;
      }
    }
  }

 private:
  struct Call {
    ToolCall head;
    std::string waiting;  ///< arguments that came before the name
    int part = -1;
  };

  void read_delta(const View& piece, Events& out) {
    if (!piece.is_object()) return;
    const std::string thought = chat_thought(piece);
    if (!thought.empty()) {
      if (m_thinking < 0) {
        close_text(out);
        Thinking head;
        head.sealed_by = FormatId::chat;
        m_thinking = start_part({std::move(head)}, out);
      }
      delta(m_thinking, DeltaField::text, thought, out);
    }
    const std::string text = chat_content_text(piece["content"]);
    if (!text.empty()) {
      if (m_text < 0) {
        close_thinking(out);
        m_text = start_part({Text{}}, out);
      }
      delta(m_text, DeltaField::text, text, out);
    }
    if (piece["refusal"].is_string() && !piece["refusal"].equals("")) {
      if (m_refusal < 0) m_refusal = start_part({Refusal{}}, out);
      delta(m_refusal, DeltaField::text, piece["refusal"].str(), out);
    }
    const std::vector<View> calls = piece["tool_calls"].items();
    for (const View& call : calls) read_call(call, out);
  }

  void read_call(const View& piece, Events& out) {
    const std::string id = piece["id"].str();
    const auto index = piece["index"].integer();
    // Without an index, or with the same one for every call, the id tells them apart.
    std::size_t at = m_calls.size();
    if (index) {
      const auto known = m_by_index.find(*index);
      if (known != m_by_index.end()) at = known->second;
    } else if (id.empty() && !m_calls.empty()) {
      at = m_calls.size() - 1;
    } else {
      for (std::size_t i = 0; i < m_calls.size(); ++i) {
        if (m_calls[i].head.id == id) at = i;
      }
    }
    if (at < m_calls.size() && !id.empty() && !m_calls[at].head.id.empty() && m_calls[at].head.id != id) {
      at = m_calls.size();
    }
    if (at == m_calls.size()) m_calls.emplace_back();
    if (index) m_by_index[*index] = at;
    Call& call = m_calls[at];
    if (call.head.id.empty()) call.head.id = id;
    if (piece["type"].equals("custom")) call.head.custom = true;
    const View inner = piece[call.head.custom ? "custom" : "function"];
    if (call.part < 0 && inner["name"].is_string()) call.head.name += inner["name"].str();
    const View arguments = inner[call.head.custom ? "input" : "arguments"];
    call.waiting += arguments.is_string() ? arguments.str()
                    : arguments.given()   ? std::string(arguments.raw())
                                          : "";
    if (call.part < 0 && !call.head.name.empty()) begin(call, at, out);
    if (call.part >= 0) {
      delta(call.part, DeltaField::arguments, call.waiting, out);
      call.waiting.clear();
    }
  }

  void begin(Call& call, std::size_t at, Events& out) {
    close_text(out);
    close_thinking(out);
    if (call.head.id.empty()) call.head.id = fmt::format("call_{}_{}", reply_id(), at);
    call.part = start_part({call.head}, out);
  }

  void close_text(Events& out) {
    end_part(m_text, out);
    m_text = -1;
  }
  void close_thinking(Events& out) {
    end_part(m_thinking, out);
    m_thinking = -1;
  }

  void end(Events& out) {
    for (const Call& call : m_calls) {
      if (call.part >= 0) continue;
      ApiError error;
      error.message = fmt::format("the reply holds a tool call without a name (id \"{}\")", call.head.id);
      failed(std::move(error), out);
      return;
    }
    const StopReason stop = chat_stop(m_finish, any_calls());
    finished(stop, stop == StopReason::unknown ? m_finish : "", out);
  }

  int m_text = -1;
  int m_thinking = -1;
  int m_refusal = -1;
  std::vector<Call> m_calls;
  std::map<std::int64_t, std::size_t> m_by_index;
  std::string m_finish;
};

class ChatWriter : public StreamWriter {
 public:
  explicit ChatWriter(StreamOptions options) : m_options(std::move(options)) {}

  void write(const Event& event, std::string& out) override {
    if (m_ended) return;
    if (const auto* start = std::get_if<Start>(&event)) {
      m_id = start->id;
      if (m_options.model.empty()) m_options.model = start->model;
      chunk(R"({"role":"assistant","content":""})", "", out);
    } else if (const auto* part = std::get_if<PartStart>(&event)) {
      begin(*part, out);
    } else if (const auto* piece = std::get_if<PartDelta>(&event)) {
      append(*piece, out);
    } else if (std::holds_alternative<Ping>(event)) {
      sse_comment("ping", out);
    } else if (const auto* finished = std::get_if<Finished>(&event)) {
      chunk("{}", chat_stop_word(finished->stop), out);
      if (m_options.usage_chunk) usage(finished->usage, out);
      sse_encode("", "[DONE]", out);
      m_ended = true;
    } else if (const auto* failed = std::get_if<Failed>(&event)) {
      error(failed->error, out);
    } else if (const auto* cut = std::get_if<Cut>(&event)) {
      ApiError broken;
      broken.message = cut->reason;
      error(broken, out);
    }
  }

 private:
  struct Open {
    enum class Kind { text, thinking, refusal, call, custom } kind = Kind::text;
    int index = 0;
  };

  void head(Writer& w) const {
    w.open('{')
        .field("id", m_id)
        .field("object", "chat.completion.chunk")
        .field("created", m_options.created);
    w.field("model", m_options.model);
  }

  void chunk(std::string_view piece, std::string_view finish, std::string& out) const {
    std::string data;
    Writer w(data);
    head(w);
    w.key("choices").open('[').open('{').field("index", 0).field_raw("delta", piece);
    if (finish.empty()) {
      w.field_null("finish_reason");
    } else {
      w.field("finish_reason", finish);
    }
    w.close('}').close(']').close('}');
    sse_encode("", data, out);
  }

  void usage(const Usage& figures, std::string& out) const {
    std::string data;
    Writer w(data);
    head(w);
    w.key("choices").open('[').close(']').field_raw("usage", write_usage(FormatId::chat, figures)).close('}');
    sse_encode("", data, out);
  }

  void begin(const PartStart& part, std::string& out) {
    Open open;
    if (std::holds_alternative<Thinking>(part.head.is)) open.kind = Open::Kind::thinking;
    if (std::holds_alternative<Refusal>(part.head.is)) open.kind = Open::Kind::refusal;
    if (const auto* foreign = std::get_if<Foreign>(&part.head.is)) {
      ApiError broken;
      broken.message =
          fmt::format("the reply holds a part that the format chat cannot carry: {}", foreign->name);
      error(broken, out);
      return;
    }
    if (const auto* call = std::get_if<ToolCall>(&part.head.is)) {
      open.kind = call->custom ? Open::Kind::custom : Open::Kind::call;
      open.index = m_calls++;
      std::string piece;
      Writer w(piece);
      w.open('{').key("tool_calls").open('[').open('{').field("index", open.index).field("id", call->id);
      w.field("type", call->custom ? "custom" : "function")
          .key(call->custom ? "custom" : "function")
          .open('{');
      w.field("name", flat_name(call->space, call->name)).field(call->custom ? "input" : "arguments", "");
      w.close('}').close('}').close(']').close('}');
      chunk(piece, "", out);
    }
    m_open[part.part] = open;
  }

  void append(const PartDelta& piece, std::string& out) {
    const auto found = m_open.find(piece.part);
    if (found == m_open.end() || piece.field == DeltaField::seal) return;  // a seal has no place here
    std::string text;
    Writer w(text);
    w.open('{');
    switch (found->second.kind) {
      case Open::Kind::text:
        w.field("content", piece.text);
        break;
      case Open::Kind::thinking:
        w.field("reasoning_content", piece.text);
        break;
      case Open::Kind::refusal:
        w.field("refusal", piece.text);
        break;
      case Open::Kind::call:
      case Open::Kind::custom: {
        const bool custom = found->second.kind == Open::Kind::custom;
        w.key("tool_calls").open('[').open('{').field("index", found->second.index);
        w.key(custom ? "custom" : "function").open('{').field(custom ? "input" : "arguments", piece.text);
        w.close('}').close('}').close(']');
        break;
      }
    }
    w.close('}');
    chunk(text, "", out);
  }

  /// As an event and the end of the stream: SDKs raise what stands in "error".
  void error(const ApiError& what, std::string& out) {
    sse_encode("", write_chat_error(what).body, out);
    m_ended = true;
  }

  StreamOptions m_options;
  std::string m_id;
  std::map<int, Open> m_open;
  int m_calls = 0;
  bool m_ended = false;
};

}  // namespace

std::unique_ptr<StreamReader> chat_reader() { return std::make_unique<ChatReader>(); }

std::unique_ptr<StreamWriter> chat_writer(const StreamOptions& options) {
  return std::make_unique<ChatWriter>(options);
}

}  // namespace tunesmith::wire
