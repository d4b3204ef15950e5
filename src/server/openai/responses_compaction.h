// A compaction item: what was said before, in few words. The item has all of it: a client keeps it and sends
// it back later, to any server, also after a restart.
//
//   {"id": "cmp_...", "type": "compaction", "encrypted_content": "parley:" + base64 of {"tenant", "summary"}}
//
// "tenant" is the SHA-256 of its name: a summary is used only in the tenant that it was made in. It is not a
// secret from the client, whose conversation it is, and a client that changes it changes its own prompt.
//
// Pure functions; safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "parley/base/text.h"
#include "parley/json/json.h"
#include "server/openai/responses_fields.h"

namespace parley::server {

Json compaction_item(std::string_view id, std::string_view tenant, std::string_view summary);

// The summary in an item; nullopt if this server did not make it. Refuses an item of another tenant, or one
// that is damaged: `param` is its place.
ApiResult<std::optional<Text>> summary_in(const Json& item, std::string_view tenant, std::string_view param);

// The item of the message that stands for a summary in a prompt.
Json summary_message(std::string_view id, std::string_view summary);

}  // namespace parley::server
