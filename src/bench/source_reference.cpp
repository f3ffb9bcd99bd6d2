#include "bench/source_reference.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "bench/references.h"
#include "bench/session.h"

namespace tunesmith::bench {

Status compute_source_reference(const Case& c, InputPool& pool, Builder& builder, const Defences& defences) {
  BuildJob job;
  job.source = &*c.reference.source;
  job.flags = {"-O2"};
  job.macros = {{"real", "double"}};
  job.widen = true;
  job.trusted = true;
  job.identity = sha256_hex("reference" + c.text_sha256);
  const Built built = builder.build(job);
  if (built.evidence.outcome != BuildEvidence::Outcome::ok) {
    return fail(ErrorCode::invalid, "the reference does not compile: " + built.evidence.detail,
                "it is compiled with -Dreal=double and must be includable",
                Place{c.file, 0, 0, "/reference/source"});
  }
  // A plain reference may take a hundred times as long as a tuned kernel.
  Case patient = c;
  patient.limits.call_seconds = std::max(120.0, 30 * c.limits.call_seconds);
  TS_ASSIGN(const InputPool wide, InputPool::widen(c, pool));
  SessionOptions options;
  options.defences = defences;
  options.trusted = true;
  auto session = Session::start(patient, wide, {built.library, {}}, options);
  if (!session)
    return fail(ErrorCode::invalid, "the reference does not run: " + session.error().detail, "",
                Place{c.file, 0, 0, "/reference/source"});
  for (std::size_t shape = 0; shape < pool.shapes().size(); ++shape) {
    ShapeInputs& inputs = pool.shapes()[shape];
    for (std::size_t set = 0; set < inputs.sets.size(); ++set) {
      std::optional<Rejection> rejection = (*session)->prepare(shape, 0, set);
      if (!rejection) {
        if (auto times = (*session)->call(shape, 0, 1); !times) rejection = times.error();
      }
      if (rejection) {
        return fail(
            ErrorCode::invalid,
            fmt::format("the reference fails for shape {}: {}", inputs.layout.shape.name, rejection->detail),
            "", Place{c.file, 0, 0, "/reference/source"});
      }
      for (std::size_t a = 0; a < inputs.layout.arguments.size(); ++a) {
        if (inputs.layout.arguments[a].checked())
          inputs.sets[set].expected[a] = (*session)->read_output(shape, 0, a);
      }
    }
  }
  compute_scales(pool);
  return {};
}

}  // namespace tunesmith::bench
