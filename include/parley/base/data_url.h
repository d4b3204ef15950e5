// A data URL taken apart in place: "data:[<media type>][;<parameter>...][;base64],<data>".
//
// For those who have base64 in hand and want to see it: nothing is decoded or copied, so what is escaped
// stays so. guard/data_url.h reads a data URL as browsers do. Pure functions; safe from any thread.
#pragma once

#include <string_view>

namespace parley {

struct DataUrlParts {
  std::string_view media_type;  // as written, without parameters; may be empty
  std::string_view data;        // behind the first comma
  bool is_base64 = false;
};

// "data:" in any case, at the very start.
bool is_data_url(std::string_view text);

// Everything is empty for a text that is no data URL, or one without a comma.
DataUrlParts split_data_url(std::string_view text);

}  // namespace parley
