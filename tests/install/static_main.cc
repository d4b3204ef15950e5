// A program linked with -static: messages, dialects, tokens, memory and a store in SQLite. Its argument is
// the file of the store.
#include <parley/dialect/dialect.h>
#include <parley/memory/stored_memory.h>
#include <parley/net/http.h>
#include <parley/token/encoding.h>

#include <cstdio>
#include <memory>
#include <string>

namespace {

parley::Result<std::size_t> remember(const std::string& file) {
  PARLEY_TRY(parley::store::Store opened, parley::store::open_store("sqlite:" + file));
  auto store = std::make_shared<parley::store::Store>(std::move(opened));
  PARLEY_TRY(parley::StoredMemory memory, parley::StoredMemory::open(store, {.session = "s"}));
  PARLEY_CHECK(memory.add(parley::Message::user_message("How are you?")));
  return memory.memory().size();
}

// What needs a library that is left out says so.
bool names_what_is_left_out() {
  const auto http = parley::net::prepare();
  if (http || http.error().message.find("libcurl") == std::string::npos) return false;
  const auto server = parley::store::open_store("postgresql://127.0.0.1:1/none");
  return !server && server.error().message.find("libpq") != std::string::npos;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  const auto size = remember(words[1]);
  if (!size || *size != 1) {
    std::puts(size ? "wrong size" : size.error().message.c_str());
    return 1;
  }
  const auto reading = parley::read(R"([{"role":"user","content":"hi"}])", parley::Dialect::OpenManus);
  if (!reading) return 1;
  const auto written = parley::write(reading->conversation, parley::Dialect::Anthropic);
  if (!written || !names_what_is_left_out()) return 1;
  std::puts(written->text.str().c_str());
  return parley::Encoding::o200k_base().count("How are you?") == 4 ? 0 : 1;
}
