// Any bytes: what is encoded decodes to the same bytes and is counted the same, by both encodings; what
// follows the first piece does not change how a short input is merged; a rank file is refused or usable.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/token/encoding.h"
#include "require.h"
#include "token/naive_encoding_testing.h"
#include "token/tables.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace parley;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const auto& [encoding, vocabulary] : {std::pair(Encoding::cl100k_base(), token::cl100k_base()),
                                             std::pair(Encoding::o200k_base(), token::o200k_base())}) {
    const std::vector<std::uint32_t> ids = encoding.encode(bytes);
    require(encoding.count(bytes) == ids.size(), "as many are counted as encoded");
    require(encoding.decode(ids).value() == bytes, "the ids decode to the bytes");
    if (size <= 256) require(ids == token::naive_ids(*vocabulary, bytes), "merged as defined");
  }
  if (const auto own = Encoding::from_tiktoken(bytes, SplitPattern::O200k, "own")) {
    require(own->decode(own->encode(bytes)).value() == bytes, "an own encoding decodes back");
  }
  return 0;
}
