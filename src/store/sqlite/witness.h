// A witness beside a database ("PATH-witness"): how far the database was when it was last written.
//
// A database has a mark, which rises with every commit (sqlite_schema.h). The witness keeps the mark of the
// last commit. It is written after the commit and before the acknowledgement, and never synced, so it can
// only lag: a database whose mark is lower has lost commits that were acknowledged. That happens if the log
// of writes is cut, damaged or deleted, of which SQLite says nothing: it takes the valid part for all of it.
//
// The file is one line of fixed length, so that it is written over in place:
//
//   parley-witness 1 ID FULL LAST CHECKSUM\n
//
// ID is that of the database, so that a witness of another file means nothing. FULL is the mark of the last
// commit that was synced (Durability::Full), LAST that of the last one. All are 16 hexadecimal digits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "parley/base/error.h"

namespace parley::store {

struct Witnessed {
  std::uint64_t id = 0;
  std::uint64_t full = 0;
  std::uint64_t last = 0;
  bool operator==(const Witnessed&) const = default;
};

std::string witness_path(const std::string& database);

// The content of a witness file; nullopt if it is missing or incomplete.
std::optional<Witnessed> read_witness(const std::string& database);
// For a database that is about to be made: an older one of this name had the witness.
void remove_witness(const std::string& database);

// A witness to write to. REQUIRES of read() and write(): the database is locked (FileLock). One thread at a
// time.
class Witness {
 public:
  // Creates the file if necessary. Fails with Invalid if it is not a regular file of this user without hard
  // links. If the disk is full or no descriptor is left, the store works without a witness.
  static Result<Witness> open(const std::string& database);
  Witness(Witness&& other) noexcept;
  Witness& operator=(Witness&&) = delete;
  ~Witness();

  std::optional<Witnessed> read() const;
  // One that cannot be written lags, which it may.
  void write(const Witnessed& seen);

 private:
  explicit Witness(int file) : file_(file) {}
  int file_;  // -1: no file
};

}  // namespace parley::store
