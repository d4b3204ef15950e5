// Answers that are no messages. The first byte is the dialect, the second a hundred of the status and the
// third the rest; a line with what stands in each header is next, then the body. Every answer has a Failure
// (F1) that keeps its promises.
#include "parley/dialect/failure.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "parley/base/secret.h"
#include "parley/base/text.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const auto dialect = static_cast<parley::Dialect>(1 + data[0] % 15);
  const int status = data[1] % 10 * 100 + data[2] % 100;
  std::string_view body(reinterpret_cast<const char*>(data) + 3, size - 3);
  const std::string_view value = body.substr(0, body.find('\n'));
  body.remove_prefix(std::min(body.size(), value.size() + 1));

  const std::array<parley::HeaderField, 4> headers = {{{"Retry-After", value},
                                                       {"x-amzn-errortype", value},
                                                       {"x-should-retry", value},
                                                       {"x-request-id", value}}};
  const parley::Failure bare = parley::failure_of(dialect, status, {}, body, 0);
  const parley::Failure full = parley::failure_of(dialect, status, headers, body, 0);
  for (const parley::Failure& failure : {bare, full}) {
    for (const parley::Text& text : {failure.message, failure.code, failure.request_id}) {
      require(text.size() <= parley::kFailureTextBytes, "F3: a text is short");
      require(parley::is_utf8(text), "F3: a text is UTF-8");
      require(parley::redacted(text) == text.view(), "F3: a text shows no secret");
    }
    require(!failure.wait || (failure.wait->count() > 0 && failure.wait->count() < 2147483648), "F4");
  }
  require(bare.retryable == parley::is_retryable(bare.kind), "F2");
  require(full == parley::failure_of(dialect, status, headers, body, 0), "the same again");
  return 0;
}
