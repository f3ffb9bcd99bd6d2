#include "bench/glue.h"

#include <fmt/format.h>

#include "base/file.h"

namespace tunesmith::bench {

namespace {

/// The casts of a call, the types of a declaration, and what spoils the first output.
struct Pieces {
  std::string call, types, spoil;
};

Pieces pieces_of(const Case& c, bool widen) {
  Pieces out;
  for (std::size_t i = 0; i < c.arguments.size(); ++i) {
    if (i > 0) {
      out.call += ", ";
      out.types += ", ";
    }
    const auto* scalar = std::get_if<Scalar>(&c.arguments[i]);
    const Dtype dtype = scalar != nullptr ? scalar->dtype : std::get<Buffer>(c.arguments[i]).dtype;
    const std::string type = widen && is_float(dtype) ? "double" : c_type_of(dtype);
    if (scalar != nullptr) {
      out.call += fmt::format("*({}*)tunesmith_arg[{}]", type, i);
      out.types += type;
      continue;
    }
    out.call += fmt::format("({}*)tunesmith_arg[{}]", type, i);
    out.types += type + "*";
    const Role role = std::get<Buffer>(c.arguments[i]).role;
    if (out.spoil.empty() && (role == Role::out || role == Role::inout)) {
      // Flips sign and exponent bits of the first element: wrong under any tolerance that means something.
      out.spoil = fmt::format("  ((unsigned char*)tunesmith_arg[{}])[sizeof({}) - 1] ^= 0x45;\n", i, type);
    }
  }
  return out;
}

std::string body(const std::string& entry, const Pieces& pieces, GlueKind kind) {
  std::string text = "void tunesmith_call(void* const* tunesmith_arg) {\n";
  text += fmt::format("  {}({});\n", entry, pieces.call);
  if (kind == GlueKind::slow) text += fmt::format("  {}({});\n", entry, pieces.call);
  if (kind == GlueKind::wrong) text += pieces.spoil;
  return text + "}\n";
}

}  // namespace

std::string glue_source(const Case& c, const SourceSet& source, GlueKind kind, bool widen) {
  const std::string linkage = source.language == "c++" ? "extern \"C\" " : "";
  return fmt::format("#include \"{}\"\n{}void tunesmith_call(void* const* tunesmith_arg);\n{}{}",
                     base_name(source.files.front()), linkage, linkage,
                     body(source.entry, pieces_of(c, widen), kind));
}

std::string bound_glue_source(const Case& c, GlueKind kind) {
  const Pieces pieces = pieces_of(c, false);
  return fmt::format(
      "typedef void (*tunesmith_type)({});\nstatic tunesmith_type tunesmith_entry;\n"
      "extern \"C\" void tunesmith_bind(void* address) {{ tunesmith_entry = (tunesmith_type)address; "
      "}}\nextern \"C\" {}",
      pieces.types, body("tunesmith_entry", pieces, kind));
}

}  // namespace tunesmith::bench
