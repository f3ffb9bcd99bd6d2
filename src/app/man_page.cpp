#include <fmt/format.h>

#include "app/help.h"
#include "app/table.h"
#include "base/text.h"

namespace tunesmith::app {

namespace {

/// Backslashes, and leading dots or quotes, mean something to roff; so does a bare hyphen (it becomes a
/// dash).
std::string roff(std::string_view text) {
  std::string out;
  unsigned code = 0;
  int rest = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0xC0) {  // the first byte of a UTF-8 sequence: roff wants the character's number
      code = byte >= 0xF0 ? byte & 0x07U : byte >= 0xE0 ? byte & 0x0FU : byte & 0x1FU;
      rest = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : 1;
    } else if (byte >= 0x80) {
      code = code << 6U | (byte & 0x3FU);
      if (--rest == 0) out += fmt::format("\\[u{:04X}]", code);
    } else if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  if (out.starts_with(".") || out.starts_with("'")) out.insert(0, "\\&");
  std::string guarded;
  for (std::size_t i = 0; i < out.size(); ++i) {
    guarded += out[i];
    if (out[i] == '\n' && i + 1 < out.size() && (out[i + 1] == '.' || out[i + 1] == '\'')) guarded += "\\&";
  }
  return guarded;
}

std::string option_entry(const Option& option) {
  std::string out = ".TP\n\\fB" + roff(option.name) + "\\fR";
  if (!option.short_name.empty()) out += ", \\fB" + roff(option.short_name) + "\\fR";
  if (!option.positional() && option.kind != Kind::toggle) out += " \\fI" + roff(option.value) + "\\fR";
  out += "\n" + roff(option.help);
  if (!option.choices.empty()) out += ": " + roff(join(option.choices, ", "));
  if (!option.fallback.empty()) out += " (default: " + roff(option.fallback) + ")";
  return out + "\n";
}

}  // namespace

std::string man_page(const std::vector<Command>& table) {
  std::string out = ".TH TUNESMITH 1 \"\" \"tunesmith " TUNESMITH_VERSION "\" \"User Commands\"\n";
  out += ".SH NAME\ntunesmith \\- auto\\-tuner for kernels that checks and times honestly\n";
  out += ".SH SYNOPSIS\n\\fBtunesmith\\fR \\fIVERB\\fR [\\fIarguments\\fR] [\\fIoptions\\fR]\n";
  out +=
      ".SH DESCRIPTION\nTries variants of a kernel, checks their numbers against a float64 reference, times "
      "them paired\n"
      "and interleaved against what you have, and keeps only what your acceptance gate passes.\n";
  out += ".SH VERBS\n";
  for (const Command& command : table) {
    out += ".SS \"" + roff(usage_line(command)) + "\"\n" + roff(command.summary) + ".\n";
    if (!command.text.empty()) out += ".PP\n" + roff(command.text) + "\n";
    for (const Option& option : command.options) out += option_entry(option);
    for (const Example& example : command.examples) {
      out += ".PP\n" + roff(example.says) + ":\n.PP\n.RS 4\n.nf\n" + roff(example.line) + "\n.fi\n.RE\n";
    }
  }
  out += ".SH OPTIONS OF EVERY VERB\n";
  for (const Option& option : global_options()) out += option_entry(option);
  out += ".SH EXIT STATUS\n";
  for (const ExitInfo& info : exit_table()) {
    out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", static_cast<int>(info.status), roff(info.meaning));
  }
  out +=
      ".SH ENVIRONMENT\n.TP\n\\fBTUNESMITH_RUNS\\fR\nfolder of the runs (default: ./runs)\n"
      ".TP\n\\fBNO_COLOR\\fR\nset to anything: no colours\n"
      ".TP\n\\fBXDG_CACHE_HOME\\fR\nwhere the machine's measured peaks are kept\n";
  return out;
}

}  // namespace tunesmith::app
