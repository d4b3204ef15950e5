// The servers that are measured, each in a process of its own, and what their processes have used.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench::server_task {

// A folder that is gone afterwards.
class Folder {
 public:
  Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

class ServerProcess {
 public:
  ServerProcess(pid_t process, std::uint16_t port, std::string database)
      : process_(process), port_(port), database_(std::move(database)) {}
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess();  // ends it

  std::uint16_t port() const { return port_; }
  pid_t pid() const { return process_; }
  double processor_us() const;  // of all its threads until now
  double resident_kb() const;
  std::size_t threads() const;
  std::uintmax_t file_bytes() const;  // of its database and what lies beside it

 private:
  pid_t process_;
  std::uint16_t port_;
  std::string database_;
};

// Waits until somebody listens there.
void wait_for_port(std::uint16_t port, const char* what);

// `parley serve` with a SQLite store in the folder, full durability, and the upstream as the provider openai.
std::unique_ptr<ServerProcess> start_parley(const Folder& folder, const std::string& upstream);
// The same as a library: a Server that takes this many connections, which is more than the command does.
std::unique_ptr<ServerProcess> start_parley_for(std::size_t connections, const Folder& folder,
                                                const std::string& upstream);
// agentic-api from PyPI, with SQLite; null if it cannot be installed.
std::unique_ptr<ServerProcess> start_agentic(const Folder& folder, const std::string& upstream);
// nginx as a plain proxy that passes everything on at once; null if there is none.
std::unique_ptr<ServerProcess> start_nginx(const Folder& folder, std::uint16_t upstream);

}  // namespace bench::server_task
