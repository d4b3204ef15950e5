// Those who append and load in turns.
#pragma once

#include <memory>
#include <string>

namespace bench::store_task {

inline constexpr std::size_t kMessageBytes = 2048;

// A message of kMessageBytes, another one for every number; and its text.
std::string body_of(std::size_t number);
std::string text_of(const std::string& body);

// Appends to different sessions come from different threads. Ends the program if anything fails.
class Contender {
 public:
  virtual ~Contender() = default;
  virtual void append(std::size_t session, std::size_t number) = 0;
  // The bytes of all bodies of a session. Those who only append have none.
  virtual std::size_t load(std::size_t) { return 0; }
};

class ParleyContender : public Contender {
 public:
  // Many small messages at once.
  virtual void fill(std::size_t session, std::size_t count) = 0;
};

std::unique_ptr<ParleyContender> parley(const std::string& uri);
std::unique_ptr<Contender> bare_sqlite(const std::string& path);
// With one connection a session modulo `connections`, the statement of Parley's store, and its tables, which
// must be there.
std::unique_ptr<Contender> bare_libpq(const std::string& uri, std::size_t connections);
// Likewise, with its script.
std::unique_ptr<Contender> bare_hiredis(const std::string& socket, std::size_t connections);

// Ends the program with a sentence unless all is well.
void check(bool good, const char* who);

}  // namespace bench::store_task
