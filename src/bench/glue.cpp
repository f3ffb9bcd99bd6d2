#include "bench/glue.h"

#include <fmt/format.h>

#include "base/file.h"

namespace tunesmith::bench {

std::string glue_source(const Case& c, const SourceSet& source, GlueKind kind, bool widen) {
  std::string call;
  std::string spoil;
  for (std::size_t i = 0; i < c.arguments.size(); ++i) {
    if (i > 0) call += ", ";
    if (const auto* scalar = std::get_if<Scalar>(&c.arguments[i])) {
      const char* type = widen && is_float(scalar->dtype) ? "double" : c_type_of(scalar->dtype);
      call += fmt::format("*({}*)tunesmith_arg[{}]", type, i);
      continue;
    }
    const auto& buffer = std::get<Buffer>(c.arguments[i]);
    const char* type = widen && is_float(buffer.dtype) ? "double" : c_type_of(buffer.dtype);
    call += fmt::format("({}*)tunesmith_arg[{}]", type, i);
    if (spoil.empty() && (buffer.role == Role::out || buffer.role == Role::inout)) {
      // Flips the sign and exponent bits of the first element's last byte: wrong under any tolerance that means something.
      spoil = fmt::format("  ((unsigned char*)tunesmith_arg[{}])[sizeof({}) - 1] ^= 0x45;\n", i, type);
    }
  }
  std::string text = fmt::format("#include \"{}\"\n", base_name(source.files.front()));
  if (source.language == "c++") text += "extern \"C\" ";
  text += "void tunesmith_call(void* const* tunesmith_arg);\n";
  if (source.language == "c++") text += "extern \"C\" ";
  text += "void tunesmith_call(void* const* tunesmith_arg) {\n";
  text += fmt::format("  {}({});\n", source.entry, call);
  if (kind == GlueKind::slow) text += fmt::format("  {}({});\n", source.entry, call);
  if (kind == GlueKind::wrong) text += spoil;
  return text + "}\n";
}

}  // namespace tunesmith::bench
