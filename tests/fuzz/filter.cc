// Every filter on any text: the first byte chooses the filter, the rest is the text. Each must keep its
// promises (FILTER1 to FILTER4, FILTER6), and "invisible" and the redaction must find nothing in what they
// gave.
#include "parley/guard/filter.h"

#include <cstdint>
#include <string_view>

#include "base/secret_scan.h"
#include "guard/edits.h"
#include "guard/filter_rows.h"
#include "parley/base/secret.h"
#include "parley/base/text.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const parley::Filter> all = parley::filters();
  const parley::Filter& filter = all[data[0] % all.size()];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const parley::Text text = parley::Text(bytes);

  const std::string_view names[] = {filter.name};
  parley::FilterOptions options;
  options.size_bytes = 64;
  options.keep_page_state = data[0] >= 128;
  const auto chain = parley::FilterChain::of(names, options);
  require(chain.has_value(), "the chain");

  const parley::FilteredText once = chain->run(text);
  require(parley::is_utf8(once.text), "UTF-8 comes out");
  require(once.text.size() <= 4 * text.size(), "the length");
  require(!once.changes.empty() || once.text.data() == text.data(), "the same text without changes");
  for (const parley::FilterChange& change : once.changes) {
    require(change.count > 0 && change.first <= text.size() && change.bytes <= text.size(), "the report");
  }
  if (filter.name != "browser-agentscope") {
    const parley::FilteredText twice = chain->run(once.text);
    require(twice.changes.empty() && twice.text == once.text, "twice is once");
  }
  // The work grows with the text and no faster.
  std::uint64_t steps = 0;
  parley::guard::Edits edits("", text);
  if (filter.name == "invisible") parley::guard::invisible(text, edits, steps);
  if (filter.name == "control-tokens") parley::guard::control_tokens(text, edits, steps);
  if (filter.name == "secrets") {
    parley::SecretScan scan(text);
    while (scan.next()) {
    }
    steps = scan.steps();
  }
  require(steps <= 100 * text.size() + 1000, "the work");
  // Logs and errors may hold any bytes.
  const std::string redacted = parley::redacted(bytes);
  require(parley::redacted(redacted) == redacted, "redacted twice is redacted once");
  return 0;
}
