// OpenAI Responses: streams, both ways.
#include <fmt/format.h>

#include <map>

#include "wire/responses.h"

namespace tunesmith::wire {

namespace {

class ResponsesReader : public StreamReader {
 public:
  ResponsesReader() : StreamReader(FormatId::responses) {}

 protected:
  bool whole_at_end(Events& /*out*/) override { return false; }  // only its own last event ends it

  bool on_word(std::string_view data, Events& /*out*/) override {
    return data == "[DONE]";
  }  // some relays add it

  void on_event(const SseEvent& event, const View& root, Events& out) override {
    const std::string type = root["type"].is_string() ? root["type"].str() : event.event;
    const View response = root["response"];
    if (type == "response.completed" || type == "response.incomplete" || type == "response.done") {
      finish_response(response, out);
    } else if (type == "response.failed" || type == "response.cancelled") {
      m_meter.tell(response["usage"]);
      failed(read_error(0, response), out);
    } else if (type == "error" || (type.empty() && root["error"].given())) {
      failed(read_error(0, root), out);
    } else if (response.is_object()) {  // created, queued, in_progress
      start(response["id"].str(), response["model"].str(), out);
    } else if (type == "response.output_item.added") {
      begin(item_of(root, root["item"]), root["item"], out);
    } else if (type == "response.output_item.done") {
      complete(item_of(root, root["item"]), root["item"], out);
    } else {
      piece(type, root, out);
    }
  }

 private:
  struct Content {
    int part = -1;
    std::string text;  ///< so far, to tell what a final text adds
  };
  struct Item {
    std::string id;
    int part = -1;  ///< of a call or of reasoning
    bool call = false;
    bool done = false;
    std::string text;                          ///< arguments or thoughts so far
    std::map<std::int64_t, Content> contents;  ///< of a message
  };

  /// By output_index, as it should be; servers that leave it out name the item's id, or mean the last one.
  Item& item_of(const View& root, const View& item) {
    const std::string id = item["id"].is_string() ? item["id"].str() : root["item_id"].str();
    if (const auto index = root["output_index"].integer()) {
      Item& found = m_items[*index];
      if (found.id.empty()) found.id = id;
      return found;
    }
    for (auto& [index, known] : m_items) {
      if (!id.empty() && known.id == id) return known;
    }
    if (id.empty() && !m_items.empty()) return m_items.rbegin()->second;
    const std::int64_t next = m_items.empty() ? 0 : m_items.rbegin()->first + 1;
    m_items[next].id = id;
    return m_items[next];
  }

  void begin(Item& item, const View& view, Events& out) {
    if (item.part >= 0) return;
    const std::string type = view["type"].str();
    if (type == "function_call" || type == "custom_tool_call") {
      auto call = read_call_item(view);
      if (!call) {
        // Name or id may come with the whole item.
        return;
      }
      const std::string first = std::move(call->arguments);
      call->arguments.clear();
      item.call = true;
      item.part = start_part({std::move(*call)}, out);
      add(item, DeltaField::arguments, first, out);
    } else if (type == "reasoning") {
      Thinking head;
      head.sealed_by = FormatId::responses;
      head.id = view["id"].str();
      item.part = start_part({std::move(head)}, out);
    }
  }

  void add(Item& item, DeltaField field, std::string_view text, Events& out) {
    item.text += text;
    delta(item.part, field, text, out);
  }

  /// What a final text has beyond the pieces. Pieces that say something else stand: they have been passed on.
  void add_rest(Item& item, DeltaField field, const std::string& whole, Events& out) {
    if (whole.size() > item.text.size() && whole.starts_with(item.text)) {
      const std::string rest = whole.substr(item.text.size());
      add(item, field, rest, out);
    }
  }

  void say(Item& item, const View& root, bool refusal, const std::string& text, bool whole, Events& out) {
    Content& content = item.contents[root["content_index"].integer().value_or(0)];
    std::string rest = text;
    if (whole) {
      if (text.size() <= content.text.size() || !text.starts_with(content.text)) return;
      rest = text.substr(content.text.size());
    }
    if (rest.empty()) return;
    if (content.part < 0) content.part = start_part(refusal ? Part{Refusal{}} : Part{Text{}}, out);
    content.text += rest;
    delta(content.part, DeltaField::text, rest, out);
  }

  void think(Item& item, std::string_view text, Events& out) {
    if (item.part < 0) {
      Thinking head;
      head.sealed_by = FormatId::responses;
      head.id = item.id;
      item.part = start_part({std::move(head)}, out);
    }
    if (!item.call) add(item, DeltaField::text, text, out);
  }

  void piece(const std::string& type, const View& root, Events& out) {
    const std::string_view known[] = {"response.output_text.",
                                      "response.refusal.",
                                      "response.reasoning_summary_",
                                      "response.reasoning_text.",
                                      "response.function_call_arguments.",
                                      "response.custom_tool_call_input."};
    bool ours = false;
    for (const std::string_view prefix : known) ours = ours || type.starts_with(prefix);
    if (!ours) return;  // content_part.*, and what is new to us
    Item& item = item_of(root, View());
    const std::string text = root["delta"].str();
    if (type == "response.output_text.delta") {
      say(item, root, false, text, false, out);
    } else if (type == "response.output_text.done") {
      say(item, root, false, root["text"].str(), true, out);
    } else if (type == "response.refusal.delta") {
      say(item, root, true, text, false, out);
    } else if (type == "response.refusal.done") {
      say(item, root, true, root["refusal"].str(), true, out);
    } else if (type == "response.reasoning_summary_part.added") {
      if (!item.text.empty()) think(item, "\n\n", out);
    } else if (type == "response.reasoning_summary_text.delta" || type == "response.reasoning_text.delta") {
      think(item, text, out);
    } else if (item.call && (type == "response.function_call_arguments.delta" ||
                             type == "response.custom_tool_call_input.delta")) {
      add(item, DeltaField::arguments, text, out);
    } else if (item.call && type == "response.function_call_arguments.done") {
      add_rest(item, DeltaField::arguments, root["arguments"].str(), out);
    } else if (item.call && type == "response.custom_tool_call_input.done") {
      add_rest(item, DeltaField::arguments, root["input"].str(), out);
    }
  }

  /// The whole item has come: whatever its pieces did not tell is told now. Some servers send no pieces at
  /// all.
  void complete(Item& item, const View& view, Events& out) {
    if (item.done || !view.is_object()) return;
    item.done = true;
    begin(item, view, out);
    const std::string type = view["type"].str();
    if (type == "message") {
      const std::vector<View> contents = view["content"].items();
      for (std::size_t i = 0; i < contents.size(); ++i) {
        Content& content = item.contents[static_cast<std::int64_t>(i)];
        const bool refusal = contents[i]["type"].equals("refusal");
        const std::string text = contents[i][refusal ? "refusal" : "text"].str();
        if (text.size() <= content.text.size() || !text.starts_with(content.text)) continue;
        if (content.part < 0) content.part = start_part(refusal ? Part{Refusal{}} : Part{Text{}}, out);
        delta(content.part, DeltaField::text, std::string_view(text).substr(content.text.size()), out);
      }
      for (const auto& [index, content] : item.contents) end_part(content.part, out);
      return;
    }
    if (type == "function_call" || type == "custom_tool_call") {
      auto call = read_call_item(view);
      if (!call) {
        cut("a tool call of the reply cannot be read: " + call.error().message, out);
        return;
      }
      add_rest(item, DeltaField::arguments, call->arguments, out);
    } else if (type == "reasoning") {
      const Thinking thinking = read_reasoning_item(view);
      add_rest(item, DeltaField::text, thinking.text, out);
      delta(item.part, DeltaField::seal, thinking.seal, out);
    } else if (item.part < 0) {
      item.part = start_part({Foreign{FormatId::responses, type, std::string(view.raw())}}, out);
    }
    end_part(item.part, out);
  }

  void finish_response(const View& response, Events& out) {
    start(response["id"].str(), response["model"].str(), out);
    // Items that were never streamed stand only here.
    const std::vector<View> items = response["output"].items();
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      const std::string id = items[i]["id"].str();
      Item* known = nullptr;
      for (auto& [index, item] : m_items) {
        if (!id.empty() && item.id == id) known = &item;
      }
      if (known == nullptr) known = &m_items[at];
      complete(*known, items[i], out);
      if (ended()) return;
    }
    m_meter.tell(response["usage"]);
    set_complete();
    finished(responses_stop(response, any_calls()), "", out);
  }

  std::map<std::int64_t, Item> m_items;
};

class ResponsesWriter : public StreamWriter {
 public:
  explicit ResponsesWriter(StreamOptions options) : m_options(std::move(options)) {}

  void write(const Event& event, std::string& out) override {
    const std::vector<Event> events = m_sequencer.take(event);
    for (const Event& one : events) {
      if (!m_ended) put(one, out);
    }
  }

 private:
  void put(const Event& event, std::string& out) {
    release(event, out);
    if (const auto* start = std::get_if<Start>(&event)) {
      m_object.id = start->id;
      m_object.model = m_options.model.empty() ? start->model : m_options.model;
      m_object.created = m_options.created;
      response("response.created", out);
      response("response.in_progress", out);
    } else if (const auto* part = std::get_if<PartStart>(&event)) {
      begin(*part, out);
    } else if (const auto* piece = std::get_if<PartDelta>(&event)) {
      append(*piece, out);
    } else if (std::holds_alternative<PartEnd>(event)) {
      m_held = std::holds_alternative<ToolCall>(m_part.is);
      if (!m_held) end(out);
    } else if (std::holds_alternative<Ping>(event)) {
      sse_comment("ping", out);
    } else if (const auto* finished = std::get_if<Finished>(&event)) {
      m_object.status = responses_status(finished->stop);
      m_object.stop = finished->stop;
      m_object.usage = &finished->usage;
      response(m_object.status == "completed" ? "response.completed" : "response.incomplete", out);
      m_ended = true;
    } else if (const auto* failed = std::get_if<Failed>(&event)) {
      fail_with(failed->error, out);
    } else if (const auto* cut = std::get_if<Cut>(&event)) {
      ApiError broken;
      broken.message = cut->reason;
      fail_with(broken, out);
    }
  }

  /// Clients run what output_item.done holds, and a call that the output limit cut looks like any other until
  /// the reason to stop is known. So a call is said to be done with the event after it, and then only if that
  /// is not such an end.
  void release(const Event& event, std::string& out) {
    if (!m_held || std::holds_alternative<Ping>(event)) return;
    m_held = false;
    const auto* finished = std::get_if<Finished>(&event);
    const bool stopped = finished != nullptr && responses_status(finished->stop) != "completed";
    if (!stopped && !std::holds_alternative<Failed>(event) && !std::holds_alternative<Cut>(event)) end(out);
  }

  /// An event's beginning: {"type":…,"sequence_number":n
  void open_event(std::string_view type, Writer& w) {
    w.open('{').field("type", type).field("sequence_number", m_sequence++);
  }

  void response(std::string_view type, std::string& out) {
    std::string data;
    Writer w(data);
    open_event(type, w);
    w.key("response");
    m_object.items = m_items;
    write_response(m_object, w);
    w.close('}');
    sse_encode(type, data, out);
  }

  void fail_with(const ApiError& error, std::string& out) {
    m_object.status = "failed";
    m_object.error = &error;
    response("response.failed", out);
    m_object.error = nullptr;
    m_ended = true;
  }

  /// type, item's coordinates, then one text field.
  void simple(std::string_view type, std::string_view field, std::string_view text, std::string& out) {
    std::string data;
    Writer w(data);
    open_event(type, w);
    w.field("item_id", m_item_id).field("output_index", m_index);
    if (is_message()) w.field("content_index", 0);
    if (is_thinking()) w.field("summary_index", 0);
    w.field(field, text);
    if (type.starts_with("response.output_text")) w.key("logprobs").open('[').close(']');
    w.close('}');
    sse_encode(type, data, out);
  }

  void item_event(std::string_view type, std::string_view item, std::string& out) {
    std::string data;
    Writer w(data);
    open_event(type, w);
    w.field("output_index", m_index).field_raw("item", item).close('}');
    sse_encode(type, data, out);
  }

  void part_event(std::string_view type, std::string_view text, std::string& out) {
    std::string data;
    Writer w(data);
    open_event(type, w);
    w.field("item_id", m_item_id).field("output_index", m_index);
    w.field(is_thinking() ? "summary_index" : "content_index", 0).key("part").open('{');
    if (is_thinking()) {
      w.field("type", "summary_text").field("text", text);
    } else if (std::holds_alternative<Refusal>(m_part.is)) {
      w.field("type", "refusal").field("refusal", text);
    } else {
      w.field("type", "output_text").field("text", text).key("annotations").open('[').close(']');
    }
    w.close('}').close('}');
    sse_encode(type, data, out);
  }

  [[nodiscard]] bool is_message() const {
    return std::holds_alternative<Text>(m_part.is) || std::holds_alternative<Refusal>(m_part.is);
  }
  [[nodiscard]] bool is_thinking() const { return std::holds_alternative<Thinking>(m_part.is); }

  void begin(const PartStart& part, std::string& out) {
    m_part = part.head;
    m_item_id = item_id(m_part, m_object.id, static_cast<std::size_t>(m_index));
    m_begun = false;
    std::string item;
    Writer w(item);
    if (const Status written = write_output_item(m_part, m_item_id, "in_progress", w); !written) {
      ApiError broken;
      broken.message = written.error().message;
      fail_with(broken, out);
      return;
    }
    item_event("response.output_item.added", item, out);
  }

  void append(const PartDelta& piece, std::string& out) {
    if (auto* text = std::get_if<Text>(&m_part.is)) {
      text->text += piece.text;
      begin_content(out);
      simple("response.output_text.delta", "delta", piece.text, out);
    } else if (auto* refusal = std::get_if<Refusal>(&m_part.is)) {
      refusal->text += piece.text;
      begin_content(out);
      simple("response.refusal.delta", "delta", piece.text, out);
    } else if (auto* thinking = std::get_if<Thinking>(&m_part.is)) {
      if (piece.field == DeltaField::seal) {
        thinking->seal += piece.text;
        return;
      }
      thinking->text += piece.text;
      begin_content(out);
      simple("response.reasoning_summary_text.delta", "delta", piece.text, out);
    } else if (auto* call = std::get_if<ToolCall>(&m_part.is)) {
      call->arguments += piece.text;
      simple(
          call->custom ? "response.custom_tool_call_input.delta" : "response.function_call_arguments.delta",
          "delta", piece.text, out);
    }
  }

  void begin_content(std::string& out) {
    if (m_begun) return;
    m_begun = true;
    part_event(is_thinking() ? "response.reasoning_summary_part.added" : "response.content_part.added", "",
               out);
  }

  /// The whole item, which is what Codex acts on.
  void end(std::string& out) {
    if (const auto* text = std::get_if<Text>(&m_part.is)) {
      begin_content(out);
      simple("response.output_text.done", "text", text->text, out);
      part_event("response.content_part.done", text->text, out);
    } else if (const auto* refusal = std::get_if<Refusal>(&m_part.is)) {
      begin_content(out);
      simple("response.refusal.done", "refusal", refusal->text, out);
      part_event("response.content_part.done", refusal->text, out);
    } else if (const auto* thinking = std::get_if<Thinking>(&m_part.is)) {
      if (m_begun) {
        simple("response.reasoning_summary_text.done", "text", thinking->text, out);
        part_event("response.reasoning_summary_part.done", thinking->text, out);
      }
    } else if (auto* call = std::get_if<ToolCall>(&m_part.is)) {
      if (call->arguments.empty() && !call->custom) call->arguments = "{}";
      simple(call->custom ? "response.custom_tool_call_input.done" : "response.function_call_arguments.done",
             call->custom ? "input" : "arguments", call->arguments, out);
    }
    std::string item;
    Writer w(item);
    if (!write_output_item(m_part, m_item_id, "completed", w)) return;  // refused when it began
    if (!m_items.empty()) m_items += ',';
    m_items += item;
    item_event("response.output_item.done", item, out);
    ++m_index;
  }

  StreamOptions m_options;
  Sequencer m_sequencer;
  ResponseObject m_object;
  std::string m_items;
  std::int64_t m_sequence = 0;
  std::int64_t m_index = 0;
  Part m_part;
  std::string m_item_id;
  bool m_begun = false;
  bool m_held = false;  ///< the last part is a call, ended and not yet said to be done
  bool m_ended = false;
};

}  // namespace

std::unique_ptr<StreamReader> responses_reader() { return std::make_unique<ResponsesReader>(); }

std::unique_ptr<StreamWriter> responses_writer(const StreamOptions& options) {
  return std::make_unique<ResponsesWriter>(options);
}

}  // namespace tunesmith::wire
