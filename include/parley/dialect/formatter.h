// Formatters of other programs: how they turn messages into a provider's request, for users who move from
// them and need the same prompts. Where a formatter and Parley's own writer differ, the writer loses less:
// use write() unless parity is the point.
//
//   agentscope-chat        the ChatFormatter of AgentScope 1.0.21 for the target
//   agentscope-multiagent  its MultiAgentFormatter for the target
//   openmanus              LLM.format_messages of OpenManus, for the target openai
//
// Invariants (quoted by tests as P1..P4):
//   P1  The text is the list that the original returns, as json.dumps(list, ensure_ascii=False,
//       separators=(",", ":")) writes it. The original is given its own message objects, made from what
//       write() makes of the conversation in its dialect; what was read in it is given as it was read.
//   P2  What the original drops is dropped, with a note.
//   P3  What the original raises an exception for is an error (Invalid) that says so.
//   P4  Nothing is fetched, read from a file, or saved to one.
//
// AgentScope does all three, so that P1 has exceptions, each with a note or an error:
//   - It reads local files. A path is written where a URL would go (media_not_read).
//   - Where a provider takes bytes only (media for gemini, images for ollama, audio for openai and responses)
//   it
//     downloads URLs. That is an error (Unsupported): put the bytes into the messages first.
//   - It saves the media in results to files and tells the model their names. "(image/png, not saved)" stands
//     where such a name would (media_not_saved); promoted media are labelled with their own media type.
// Bytes in its list (Gemini's thought signatures) are base64 here. Its truncation by tokens is not part of a
// formatter; a Memory has budgets.
//
// Functions are safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/dialect/dialect.h"
#include "parley/message/conversation.h"

namespace parley {

enum class Formatter : std::uint8_t { AgentScopeChat, AgentScopeMultiAgent, OpenManus };

std::string_view to_string(Formatter formatter);  // "agentscope-chat", "agentscope-multiagent", "openmanus"
// Fails with NotFound, listing the names there are.
Result<Formatter> formatter_named(std::string_view name);

// The dialects that the formatter can write.
std::span<const Dialect> targets(Formatter formatter);

// The parameters of the originals, with their defaults. Those of another formatter are ignored.
struct FormatterOptions {
  // AgentScope: media in results follow in a message of the user. Images for openai, responses, gemini,
  // ollama and dashscope; audio and video for dashscope.
  bool promote_images = false;
  bool promote_audios = false;
  bool promote_videos = false;
  // AgentScope, several agents: what stands before the first history; the original's words if it is not set.
  OptionalText history_prompt = {};
  // OpenManus: images are sent; else they are dropped.
  bool supports_images = false;
};

// The list of messages, system message included, whatever the shape of the conversation's document. Fails
// with Unsupported, naming the targets there are, if the formatter cannot write `target`; with
// Unsupported if the formatter has no such parameter, or a URL would have to be fetched; with Invalid (P3);
// and as write() does if the conversation cannot be written in the original's dialect. The path of an error
// points into the conversation as that dialect has it.
Result<Writing> format(const Conversation& conversation, Dialect target, Formatter formatter,
                       const FormatterOptions& options = {});

}  // namespace parley
