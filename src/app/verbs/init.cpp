#include <fmt/format.h>

#include "app/command.h"
#include "app/guess.h"
#include "app/session.h"
#include "base/file.h"

namespace tunesmith::app {

namespace {

std::string stem_of(const std::string& path) {
  const std::string name = base_name(path);
  return name.substr(0, name.find_last_of('.'));
}

Result<Exit> run(Context& context) {
  const Arguments& arguments = context.arguments;
  const std::string file = arguments.text("KERNEL");
  const std::string extension = file.substr(std::min(file.size(), file.find_last_of('.')));
  if (extension != ".c" && extension != ".cc" && extension != ".cpp" && extension != ".cxx") {
    return fail(ErrorCode::usage, "is no C or C++ source (.c, .cc, .cpp, .cxx)",
                "give the file that holds the kernel", Place{file, 0, 0, {}});
  }
  TS_ASSIGN(const std::string source, read_file(file, 1U << 20));
  TS_ASSIGN(const GuessedKernel kernel, guess_kernel(source, file, arguments.text("--entry")));

  const std::string folder = parent_folder(file);
  const std::string stem = stem_of(file);
  const std::string case_file = arguments.text("--out", folder + "/" + stem + ".case.json");
  TS_TRY(refuse_existing(case_file));
  // Paths in a case are relative to the case file, which may stand elsewhere.
  const bool beside = absolute_path(parent_folder(case_file)) == absolute_path(folder);
  const auto from_case = [&](const std::string& path) {
    return beside ? base_name(path) : absolute_path(path);
  };

  std::string reference = arguments.text("--reference");
  bool made_reference = false;
  if (reference.empty()) {
    if (kernel.vector_code) {
      return fail(ErrorCode::invalid,
                  "uses vector code, so its reference in double precision cannot be made from its text",
                  fmt::format("write {} as a plain loop in another file and give it with --reference FILE",
                              kernel.entry),
                  Place{file, 0, 0, {}});
    }
    reference = folder + "/" + stem + ".reference" + extension;
    made_reference = true;
  }
  GuessedCase guessed = guess_case(kernel, stem, from_case(file),
                                   made_reference ? from_case(reference) : absolute_path(reference));
  if (made_reference) {
    TS_TRY(write_new_file(reference,
                          "// The kernel as it was, in double precision: what its variants are checked "
                          "against.\n" +
                              double_twin(source)));
  }
  TS_TRY(write_new_file(case_file, print_json(guessed.json)));

  // What was written must load: a first case that is refused teaches nobody.
  const auto loaded = load_case(case_file);
  if (context.json) {
    json::array guesses;
    for (const std::string& guess : guessed.guesses) guesses.push_back(json::string(guess));
    json::object out;
    out["case"] = case_file;
    out["reference"] = reference;
    out["entry"] = kernel.entry;
    out["guesses"] = std::move(guesses);
    out["loads"] = loaded.has_value();
    context.print_json(out);
  } else {
    context.print(case_file);
    if (made_reference) context.print(reference);
    context.say(fmt::format("\nguessed for {} (correct the case where it is wrong):", kernel.entry));
    for (const std::string& guess : guessed.guesses) context.say("  " + guess);
    if (made_reference) {
      context.say(
          "  the reference is the kernel itself in double precision: variants are held to what it computes "
          "today");
    }
    context.say(
        fmt::format("\nnext: tunesmith case check {}\n      tunesmith tune {}", case_file, case_file));
  }
  if (!loaded) {
    context.remark("the case needs your hand: " + loaded.error().line());
    return Exit::failed;
  }
  return Exit::success;
}

}  // namespace

Command init_command() {
  return {
      .name = "init",
      .summary = "Write a first case for a kernel of yours, and say what was guessed",
      .text =
          "The kernel is a C or C++ source with a function void NAME(…) of C linkage. Macros with an #ifndef "
          "default "
          "become parameters. Sizes of buffers are read from subscripts and loops. The reference is the "
          "kernel's own "
          "text in double precision. Nothing is overwritten.",
      .options =
          {
              {.name = "KERNEL",
               .kind = Kind::file,
               .value = "KERNEL",
               .help = "source file",
               .required = true},
              {.name = "--entry",
               .kind = Kind::text,
               .value = "NAME",
               .help = "the function",
               .fallback = "the first with C linkage"},
              {.name = "--out",
               .kind = Kind::file,
               .value = "FILE",
               .help = "the case to write",
               .fallback = "KERNEL.case.json beside the source"},
              {.name = "--reference",
               .kind = Kind::file,
               .value = "FILE",
               .help = "your own reference: the same function over the macro real, which becomes double"},
          },
      .examples = {{"tunesmith init saxpy.c", "writes saxpy.case.json and saxpy.reference.c"}},
      .exits = {Exit::failed, Exit::conflict},
      .run = run,
  };
}

}  // namespace tunesmith::app
