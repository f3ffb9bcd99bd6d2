// Runs a fuzz target without libFuzzer: seeds from a folder, mutated at random from a seed that is printed.
// Finds less than libFuzzer (no coverage feedback), runs everywhere, ends by itself.
//   fuzz_x CORPUS_FOLDER [RUNS] [SEED]      or      fuzz_x FILE   to run one input again
// On a crash the input is written to ./fuzz-crash.bin.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/random.h"
#include "target.h"

namespace {

using tunesmith::Rng;

std::string g_input;

extern "C" void save_input(int signal_number) {
  const int file = open("fuzz-crash.bin", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file >= 0) {
    (void)!write(file, g_input.data(), g_input.size());
    (void)!close(file);
  }
  std::signal(signal_number, SIG_DFL);
  (void)!raise(signal_number);
}

void run(std::string input) {
  g_input = std::move(input);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(g_input.data()), g_input.size());
}

/// Pieces that the grammars turn on.
const std::vector<std::string> k_words = {"\n\n",        "\r\n",
                                          "\r",          "data: ",
                                          "event: ",     "id: ",
                                          "[DONE]",      "{",
                                          "}",           "[",
                                          "]",           ",",
                                          ":",           "\"",
                                          "\\u",         "\\ud83d",
                                          "null",        "true",
                                          "0",           "-1",
                                          "1e9",         "{}",
                                          "[]",          "\\",
                                          "\xFF",        "\xEF\xBB\xBF",
                                          "\"id\"",      "\"type\"",
                                          "\"index\":0", "\"error\"",
                                          "\"usage\""};

std::string mutate(const std::vector<std::string>& seeds, Rng& rng) {
  std::string text = seeds[rng.next() % seeds.size()];
  const std::size_t times = 1 + rng.next() % 6;
  for (std::size_t i = 0; i < times; ++i) {
    if (text.empty()) return text;
    const std::size_t at = rng.next() % text.size();
    const std::size_t length = 1 + rng.next() % 40;
    switch (rng.next() % 7) {
      case 0:
        text[at] = static_cast<char>(rng.next() % 256);
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      case 3:
        text.insert(at, k_words[rng.next() % k_words.size()]);
        break;
      case 4:
        text.resize(at);
        break;
      case 5: {  // a piece of another seed, which may be any kind of value
        const std::string& other = seeds[rng.next() % seeds.size()];
        if (!other.empty()) text.insert(at, other.substr(rng.next() % other.size(), length));
        break;
      }
      default: {  // swap two pieces: events change places
        const std::string piece = text.substr(at, length);
        text.erase(at, length);
        text.insert(text.empty() ? 0 : rng.next() % text.size(), piece);
      }
    }
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s CORPUS_FOLDER [RUNS] [SEED] | FILE\n", argv[0]);
    return 2;
  }
  const std::string where = argv[1];
  if (!fs::is_directory(where)) {
    auto one = tunesmith::read_file(where);
    if (!one) {
      std::fprintf(stderr, "%s\n", one.error().line().c_str());
      return 2;
    }
    run(std::move(*one));
    return 0;
  }
  const unsigned long long runs = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20'000;
  const unsigned long long seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  std::vector<std::string> seeds;
  for (const std::string& name : tunesmith::list_folder(where)) {
    auto text = tunesmith::read_file((fs::path(where) / name).string());
    if (text) seeds.push_back(std::move(*text));
  }
  if (seeds.empty()) {
    std::fprintf(stderr, "no seed in %s\n", where.c_str());
    return 2;
  }
  for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(number, save_input);
  for (const std::string& text : seeds) run(text);
  Rng rng(seed);
  for (unsigned long long i = 0; i < runs; ++i) run(mutate(seeds, rng));
  std::printf("%zu seeds and %llu mutated inputs (seed %llu): no finding\n", seeds.size(), runs, seed);
  return 0;
}
