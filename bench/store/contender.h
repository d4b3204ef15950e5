// Those who append and load in turns.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace bench::store_task {

inline constexpr std::size_t kMessageBytes = 2048;

// A message of kMessageBytes, and its text; another one for every number.
std::string body_of(std::size_t number);

class Contender {
 public:
  virtual ~Contender() = default;
  virtual void append(std::size_t session, std::size_t number) = 0;
  virtual std::size_t load(std::size_t session) = 0;  // bytes of all bodies
};

std::unique_ptr<Contender> parley_sqlite(const std::string& path);
std::unique_ptr<Contender> bare_sqlite(const std::string& path);

}  // namespace bench::store_task
