// The parts of `parley doctor` beside the store, the configuration and the model: where files are and who can
// read them, the tools and their permissions, the MCP servers, the keys, and what to run next.
//
// Plain values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/config.h"
#include "cli/store.h"
#include "parley/json/writer.h"

namespace parley::cli {

struct DoctorPlaces {
  struct File {
    std::string what, path;
    std::optional<unsigned> mode;  // nullopt: there is no such file
    std::string warning;           // other users can open it; empty: they cannot
  };
  struct ToolRow {
    std::string name;
    std::string permission;  // "allow", "ask", "deny", or "default"
  };
  struct Server {
    std::string name;
    std::size_t tools = 0;
    std::string error;  // empty: it works
  };
  struct StoredKey {
    std::string provider, from;
  };
  std::vector<File> files;
  std::vector<ToolRow> tools;
  std::vector<Server> servers;
  std::vector<StoredKey> keys;
  std::vector<std::string> hints;  // commands to run next, with the reason

  bool is_ok() const;  // every server works
};

// Starts each MCP server and ends it again. `store` is resolved.
DoctorPlaces places_of(const Config& config, const StoreChoice& store);

std::string for_people(const DoctorPlaces& places);
// Members of an open object.
void put(json::Writer& w, const DoctorPlaces& places);

}  // namespace parley::cli
