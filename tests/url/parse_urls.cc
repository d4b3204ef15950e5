// Reads URLs as Parley does, for tests/judges/urls.sh. A line of input is a URL in base64, perhaps a space
// and the base64 of the URL it is relative to. A line of output is
//   "fail <code>", or scheme, host kind, host, href, tab between them.
#include <iostream>
#include <string>

#include "parley/base/url.h"
#include "parley/media/data_url.h"

namespace {

parley::Result<parley::Url> url_of(std::string_view line) {
  const std::size_t space = line.find(' ');
  PARLEY_TRY(const std::string text, parley::base64_decode(line.substr(0, space)));
  if (space == std::string_view::npos) return parley::parse_url(text);
  PARLEY_TRY(const std::string base_text, parley::base64_decode(line.substr(space + 1)));
  PARLEY_TRY(const parley::Url base, parley::parse_url(base_text));
  return parley::resolve_url(text, base);
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto url = url_of(line);
    if (url) {
      std::cout << url->scheme << '\t' << to_string(url->host_kind) << '\t' << url->host << '\t'
                << url->href() << '\n';
    } else {
      std::cout << "fail " << to_string(url.error().code) << '\n';
    }
  }
}
