// The generated translation unit that makes any kernel callable: it includes the kernel's source, so the
// compiler checks the call, and adds one entry of a fixed form, void tunesmith_call(void* const* arg).
#pragma once

#include <string>

#include "case/case.h"

namespace tunesmith::bench {

/// plain: the call. wrong: one element of the first output is changed afterwards. slow: the call is made
/// twice. The two canaries prove that the bench would notice.
enum class GlueKind { plain, wrong, slow };

/// `widen`: float buffers and scalars are passed as double (references compiled with -Dreal=double).
[[nodiscard]] std::string glue_source(const Case& c, const SourceSet& source, GlueKind kind = GlueKind::plain,
                                      bool widen = false);

/// The same for a library that somebody else built: its entry is bound at load, by tunesmith_bind(address).
[[nodiscard]] std::string bound_glue_source(const Case& c, GlueKind kind = GlueKind::plain);

}  // namespace tunesmith::bench
