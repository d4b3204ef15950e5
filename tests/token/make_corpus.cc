// make_token_corpus FOLDER SEED BYTES: writes each section of the corpus, of so many bytes, to
// FOLDER/<name>.txt, and every code point to FOLDER/every_scalar.txt.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "corpus.h"

namespace {

bool number(const char* text, std::uint64_t& value) {
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  return error == std::errc() && stop == end;
}

bool write(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  return static_cast<bool>(out.flush());
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t seed = 0;
  std::uint64_t bytes = 0;
  if (argc != 4 || !number(argv[2], seed) || !number(argv[3], bytes)) {
    std::fputs("usage: make_token_corpus FOLDER SEED BYTES\n", stderr);
    return 2;
  }
  const std::string folder = argv[1];
  bool good = write(folder + "/every_scalar.txt", parley::test::every_scalar());
  for (const parley::test::CorpusSection& section : parley::test::corpus_sections()) {
    good = write(folder + "/" + section.name + ".txt", section.make(seed, bytes)) && good;
  }
  if (!good) std::fputs("make_token_corpus: cannot write\n", stderr);
  return good ? 0 : 3;
}
