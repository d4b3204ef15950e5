// URI references (RFC 3986) as names: compared and resolved, never fetched. Pure functions; safe from any
// thread.
#pragma once

#include <string>
#include <string_view>

namespace parley {

struct SplitUri {
  std::string_view uri;       // without the fragment
  std::string_view fragment;  // without the '#', percent-encoded
};
SplitUri split_fragment(std::string_view uri);

// The URI that `reference` names where `base` is the base URI (section 5.2), without its fragment. Either may
// be anything: what is no URI becomes a name that leads nowhere.
std::string resolve_reference(std::string_view base, std::string_view reference);

}  // namespace parley
