// `parley serve` as a process that a test starts, kills and asks, and the client of a stream of events.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/json/json.h"
#include "parley/net/http.h"

namespace parley::server::testing {

// A folder that goes with the object.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct ServedOptions {
  std::string store;        // a URI
  std::string upstream;     // the base URL of the provider "openai"
  std::string home;         // a folder for its configuration and its log
  std::string config = {};  // the text of parley.toml
};

// A response, as far as it came.
struct Heard {
  int status = 0;
  std::vector<net::Header> headers = {};
  std::string text = {};
  bool is_whole = false;  // it ended as a response ends

  std::string header(std::string_view name) const;  // "" if it is absent
  Json json() const;                                // null if the text is not JSON
  std::string at(std::string_view pointer) const;   // of the JSON: a string unescaped; "" if it is absent
  std::vector<std::string> events() const;          // of a stream, whole ones, each without its blank line
};

// The JSON of an event; null for "[DONE]".
Json data_of(std::string_view event);
std::string string_at(const Json& json, std::string_view pointer);

class Served {
 public:
  // Fails the test if it does not listen within ten seconds.
  explicit Served(ServedOptions options);
  ~Served();  // kills it
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  void kill();  // SIGKILL, and waits
  int wait();   // the status of waitpid(2)
  std::size_t resident_bytes() const;
  std::string log() const;  // its standard error so far

  using Headers = std::vector<net::Header>;
  // on_text is called with what came so far whenever more came; false ends the request.
  using OnText = std::function<bool(const Heard& heard)>;
  Heard send(const std::string& method, std::string_view path, std::string body = {}, Headers headers = {},
             const OnText& on_text = {}) const;
  Heard get(std::string_view path) const { return send("GET", path); }
  Heard post(std::string_view path, std::string body, Headers headers = {}) const {
    return send("POST", path, std::move(body), std::move(headers));
  }
  std::uint16_t port() const;

 private:
  const ServedOptions options_;
  std::string url_;
  pid_t pid_ = -1;
};

}  // namespace parley::server::testing
