// Any bytes: a document of AgentScope's or OpenManus' is refused or formatted by every policy for every
// target, and what comes out is one JSON list, the same again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "parley/dialect/formatter.h"
#include "require.h"

namespace {

void format_all(std::string_view document, parley::Dialect dialect) {
  const auto reading = parley::read(document, dialect);
  if (!reading) return;
  for (const parley::Formatter policy :
       {parley::Formatter::AgentScopeChat, parley::Formatter::AgentScopeMultiAgent,
        parley::Formatter::OpenManus}) {
    for (const parley::Dialect target : parley::targets(policy)) {
      const bool promotes = target == parley::Dialect::OpenAI || target == parley::Dialect::Responses;
      const parley::FormatterOptions options = {.promote_images = promotes, .supports_images = true};
      const auto list = parley::format(reading->conversation, target, policy, options);
      if (!list) continue;
      const auto json = parley::Json::parse(list->text.view());
      // A list nests its values deeper than the document did, and may be longer.
      if (!json && json.error().code == parley::Code::LimitExceeded) continue;
      require(json && json->is_array(), "the text is a JSON list");
      const auto again = parley::format(reading->conversation, target, policy, options);
      require(again && again->text == list->text && again->notes == list->notes, "the same again");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view document(reinterpret_cast<const char*>(data), size);
  format_all(document, parley::Dialect::AgentScope);
  format_all(document, parley::Dialect::OpenManus);
  return 0;
}
