// The operations on a store with their clients, times and results, and a check whether they are possible for
// a store that keeps its promises.
//
// Invariants, by the numbers that a Violation gives:
//    1  No acknowledged batch is missing from a read that begins later.
//    2  Nothing is read that was never sent, and nothing of a batch whose every try failed.
//    3  Batches are whole and contiguous, at the end of every read too.
//    4  Each batch is there once, and at most one append reported it as new.
//    5  Positions are 0 to n-1.
//    6  Any two reads agree where both have records, and a later one is not shorter.
//    7  The batches of one writer are in its order.
//    8  A batch that was acknowledged before another was sent comes before it.
//    9  A batch is where its acknowledgement says.
//   10  What resolve says of a batch stays so, unless it is sent again.
//   11  No view that a Memory makes of a read has a result without its call, or a call without its result.
//
// Times are nanoseconds of the monotonic clock, which is one for all processes of a machine.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/store/record.h"

namespace parley::store {

struct Operation {
  enum class Kind : std::uint8_t { Append, Read, Resolve };
  enum class Outcome : std::uint8_t { Ok, Failed, Unknown };

  Kind kind = Kind::Append;
  Outcome outcome = Outcome::Unknown;
  std::string writer = {};  // the client; it does one thing at a time
  std::string session = {};
  std::int64_t invoked_ns = 0;
  std::int64_t completed_ns = std::numeric_limits<std::int64_t>::max();  // never

  std::string batch = {};                // of an append or a resolve
  std::size_t count = 0;                 // records of an append
  bool is_new = false;                   // an append that was no repeat
  bool is_found = false;                 // a resolve that found the batch
  Position first = 0;                    // where the batch is, or where a read begins
  Position size = 0;                     // of the session, as a read saw it
  std::vector<std::string> values = {};  // what a read gave: "<batch>/<index>/<count>"
};

struct Violation {
  int invariant = 0;
  std::string what;
};

// All violations, but no more than a few of each invariant. Linear but for sorting by time.
std::vector<Violation> check_history(std::span<const Operation> operations);

// Reads operations from lines. Each has one line at its start, and one at its end; one that never ended
// has an unknown outcome, and a last line without its end is left out. <id> is "<writer>:<number>".
//
//   invoke <id> <ns> append <session> <batch> <count>      ok <id> <ns> <first> new|repeated
//   invoke <id> <ns> read <session> <first>                ok <id> <ns> <size> <value>...
//   invoke <id> <ns> resolve <session> <batch>             ok <id> <ns> none|<first>
//   fail <id> <ns>                                         unknown <id> <ns>
//
// Fails with Malformed, naming the line.
Result<std::vector<Operation>> read_history(std::string_view lines);

// A value is what one record says: which batch it is of, its index there, and how many it has.
inline std::string value_of(std::string_view batch, std::size_t index, std::size_t count) {
  return std::string(batch) + "/" + std::to_string(index) + "/" + std::to_string(count);
}

}  // namespace parley::store
