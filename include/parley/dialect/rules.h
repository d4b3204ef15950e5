// The rules of the providers: what their servers refuse, checked on the JSON that would be sent.
//
// This is a second opinion on what Parley writes: it knows the wire formats on its own and shares nothing
// with the readers and writers of dialects. A document that was repaired and written, and has an error here,
// shows a bug in Parley.
//
// A document is a request, a response, a list of messages (contents, items), or one message, as the dialect
// has them. A message on its own, and each message of a response, is judged by itself: what came before it is
// not known. Members that a request lacks beside its messages (a model, a limit), unknown members and
// unknown types of blocks are not findings, except for AgentScope's blocks. Null counts as absent. OpenManus
// and `parley` are no providers' formats and have no rules; AgentScope's are what its formatters do not take.
//
// An error is what a server refuses; a warning is what some server or model refuses, or what was seen to be
// refused only at second hand. The codes, each after the rule it belongs to:
//
//   All
//     error    wrong_shape             a known member has a type it cannot have
//     error    missing_member          a member is missing that must be there
//     error    unknown_role            the dialect has no such role (ollama: a warning)
//     error    block_role              a message of this role cannot hold such a block
//     warning  pending_call            the last step asks for tools and nothing followed yet
//     warning  cache_marks             more than four cache marks (openai, responses, dashscope)
//
//   openai, deepseek, moonshot, dashscope
//     error    c1_orphan_result        a tool message answers no call of the assistant's message before it
//     warning  c1_duplicate_result     a call is answered twice
//     error    c2_missing_result       a call is not answered before another message comes
//     warning  c3_long_id              the id of a call has more than 40 characters (others than openai: 64)
//     error    c4_media_role           media outside of a user's message
//     error    c5_tool_name            the name of a tool is not 1 to 64 of [a-zA-Z0-9_-]
//     error    c5_message_name         the name of a message has other characters than [a-zA-Z0-9_-]
//     warning  c5_long_description     the description of a tool has more than 1024 characters
//     warning  c5_empty_tools          "tools" is an empty list
//     error    c6_empty_message        an assistant's message has neither content nor calls
//     warning  c6_empty_calls          "tool_calls" is an empty list
//     error    c7_audio_format         audio is neither wav nor mp3
//     error    c7_audio_url            audio is given by a URL
//     error    c7_audio_id             the assistant's audio has no id
//     error    d1_missing_reasoning    deepseek, thinking on: calls without "reasoning_content"
//     error    d2_missing_reasoning    moonshot, thinking on: calls without "reasoning_content"
//     error    d2_empty_message        moonshot: an assistant's message without content and calls
//     error    d2_empty_text           moonshot: a text block is empty (a whole content: a warning)
//     error    d2_forced_tool          moonshot, thinking on: a tool is forced
//     warning  d2_schema_type          moonshot: a tool's parameter has a schema without "type"
//     warning  d3_null_content         dashscope: a message without "content"
//     warning  d_result_blocks         deepseek, moonshot: the content of a result is a list
//
//   responses
//     error    p1_missing_output       a call has no output
//     error    p1_orphan_output        an output has no call
//     warning  p1_early_output         an output stands before its call
//     warning  p1_duplicate_output     a call has two outputs
//     warning  p1_duplicate_call       two calls have one id
//     error    p2_long_call_id         "call_id" has more than 64 characters
//     error    p2_long_item_id         the "id" of an item has more than 64 characters
//     error    p3_lone_reasoning       reasoning is not followed by what it led to
//     warning  p4_not_encrypted        nothing is stored, and reasoning lacks "encrypted_content"
//     warning  p4_message_id           an assistant's message with blocks lacks "id" or "status"
//     error    p5_created_by           "created_by" in an item that is sent
//     error    p5_failed_output        a computer's output that failed
//     error    p5_unfinished_output    a custom tool's output that is not completed
//     error    p5_tools_role           additional tools of another role than developer
//     warning  p6_foreign_reasoning    reasoning with neither an id nor "encrypted_content"
//     error    tool_name               the name of a tool is not 1 to 64 of [a-zA-Z0-9_-]
//
//   anthropic
//     error    a1_missing_result       the user's next message has no result for a call
//     error    a1_late_result          a result stands after other blocks
//     warning  a1_split_results        the results of a step stand in several messages
//     error    a2_orphan_result        a result answers no call of the message before
//     error    a2_server_result        the result of a server's tool without its call before
//     error    a3_duplicate_result     a call is answered twice
//     error    a3_duplicate_id         two calls of a turn have one id (of different turns: a warning)
//     error    a4_id_pattern           an id has other characters than [a-zA-Z0-9_-]
//     warning  a4_long_id              an id has more than 64 characters
//     error    a5_empty_error          a result that is an error is empty
//     error    a5_error_block          a result that is an error holds more than texts
//     error    a6_empty_text           a text is empty
//     error    a6_blank_text           no text of the message is more than whitespace
//     error    a6_empty_content        a message is empty that is not a last one of the assistant
//     warning  a6_trailing_space       the last text of the assistant, to continue from, ends in whitespace
//     warning  a7_first_role           the first message is not the user's
//     error    a7_no_messages          there is no message
//     error    a8_unsigned_thinking    thinking without signature (before the last request: a warning)
//     error    a8_thinking_last        a message ends with thinking
//     error    a8_no_thinking          thinking on: the message whose calls were answered, or a last one of
//                                      the assistant, starts without it
//     error    a8_thinking_disabled    thinking off: the last message holds thinking
//     error    a9_forced_tool          thinking on: a tool is forced
//     error    a10_first               a system message at the start
//     error    a10_order               a system message in another place than after a user's, before an
//                                      assistant's or at the end
//     error    a10_between             a system message between a call and its result
//     error    a10_block               a system message holds more than texts and changes of tools
//     warning  a10_model               a system message at all
//     error    a11_cache_marks         more than four cache marks
//     warning  a11_marked_thinking     a cache mark on thinking
//     error    a12_tool_name           the name of a tool is not 1 to 128 of [a-zA-Z0-9_-]
//     warning  a12_long_name           the name of a tool has more than 64 characters
//     warning  a12_property_key        a property of a tool is not 1 to 64 of [a-zA-Z0-9_.-]
//     error    a13_input               "input" of a call is no object
//     error    a14_image_type          an image is none of jpeg, png, gif, webp
//     error    a14_document_type       a document in base64 is no pdf
//     warning  a14_image_size          an image has more than 5 MB
//     warning  a14_image_count         more than 100 images (more than 600: an error)
//     error    a15_max_tokens          a request that names a model has no "max_tokens"
//     error    a16_budget              thinking on: "budget_tokens" is missing or less than 1024
//     error    a16_max_tokens          thinking on: "max_tokens" is not more than "budget_tokens" (with
//                                      tools: a warning, as thinking interleaved with calls may have more)
//     error    a16_sampling            thinking on or adaptive: "temperature" is not 1, "top_p" is less than
//                                      0.95, or "top_k" is there
//
//   gemini
//     error    g1_missing_result       the next content has fewer results than there are calls
//     error    g1_extra_result         the next content has more results than there are calls
//     error    g2_call_order           calls that follow neither the user nor results
//     error    g2_result_order         results that do not follow calls
//     error    g3_empty_parts          a content without parts
//     warning  g3_empty_text           an empty text without signature
//     error    g3_no_data              a part without data
//     error    g3_two_data             a part with two kinds of data
//     warning  g4_missing_signature    the first call of a step of the current turn has no signature
//     error    g5_role                 a role that is neither user nor model
//     error    g5_first_role           the first content is the model's
//     error    g6_name                 the name of a function does not fit
//     warning  g6_long_name            the name of a function has more than 64 characters
//     error    g7_missing_name         a result does not name its function
//     error    g7_response             "response" is no object
//     warning  g8_media_type           a media type that is not listed
//     warning  g9_unknown_id           a result with an id that no call has
//     error    too_many_tools          more than 512 declarations
//
//   ollama
//     error    l1_content              "content" is no string
//     error    l1_image_url            an image is a URL
//     error    l1_image_base64         an image is no base64
//     warning  l4_orphan_result        as c1_orphan_result; results without ids are counted
//     warning  l4_duplicate_result     as c1_duplicate_result
//     warning  l4_missing_result       as c2_missing_result
//
//   converse
//     error    b1_image_count          more than 20 images in a message
//     error    b1_document_count       more than 5 documents in a message
//     error    b1_image_size           an image has more than 3.75 MB
//     error    b1_document_size        a document has more than 4.5 MB
//     error    b1_image_format         an image is none of gif, jpeg, png, webp
//     error    b1_document_format      a document of an unknown format
//     error    b1_media_role           media outside of a user's message
//     error    b1_lone_document        a document without a text beside it
//     error    b1_document_name        the name of a document does not fit
//     error    b2_no_tools             a request with calls or results, but without tools
//     error    b3_missing_result       the next message has no result for a call
//     error    b3_extra_result         a result answers no call of the message before, or again
//     warning  b3_same_role            two messages of one role in a row
//     warning  b3_first_role           the first message is the assistant's
//     error    b4_blank_text           a text is empty or whitespace (of the system prompt, and
//                                      whitespace beside other texts: a warning)
//     error    b4_empty_content        a message is empty
//     error    b4_empty_error          a result that is an error is empty
//     error    b5_result_json          "json" of a result is no object
//     warning  b5_input                "input" of a call is no object
//     warning  b5_id                   an id is not 1 to 64 of [a-zA-Z0-9_-]
//     warning  b5_name                 the name of a tool is not 1 to 64 of [a-zA-Z0-9_-]
//     warning  b6_unsigned_reasoning   reasoning without signature
//     warning  b6_url                  media by a URL that is not of s3
//     error    b7_budget               as a16_budget, in "additionalModelRequestFields"
//     error    b7_max_tokens           as a16_max_tokens, of "inferenceConfig"
//     error    b7_sampling             as a16_sampling
//     error    b7_forced_tool          thinking on: a tool is forced
//     warning  b_system_role           a system message
//
//   agentscope, agentscope2
//     error    agentscope_block        a block of a type that AgentScope does not define
//     error    agentscope_content      the content of a message is null
//     error    agentscope_url          a source's URL is neither a URL nor a path
//
//   otel
//     error    otel_missing_member     a message or a part lacks what the schema requires
//     warning  otel_modality           a modality that is none of image, video, audio, document
//     error    otel_data_uri           a part "uri" with a data URI
//     error    otel_blob_member        a part "blob" with an unknown member
//
//   sharegpt
//     error    sharegpt_position       human and observation do not alternate with gpt and function_call
//     warning  sharegpt_open_end       the last message has no answer
//     error    sharegpt_system         a system message that is not the first
//     error    sharegpt_placeholder    as many <image>, <video>, <audio> as media: not so
//     error    sharegpt_call_json      the value of a function_call is no JSON of calls
//     error    sharegpt_tools          "tools" is no JSON text of a list
//
// Invariants (quoted by tests as S1..S3):
//   S1  Every finding's path leads to a value of the document.
//   S2  The cost is linear in the size of the document, whatever is in it.
//   S3  Every code above is found by some document, and no other code is.
//
// A pure function; safe from any thread.
#pragma once

#include <vector>

#include "parley/dialect/dialect.h"
#include "parley/json/json.h"
#include "parley/message/validate.h"

namespace parley {

// The findings in the order of the messages; those about none (tools, the system prompt) with the first. Of
// errors and of warnings 10,000 each are kept. `message_index` counts in the document's list of messages,
// `block_index` in the content of the message.
std::vector<Finding> check_rules(const Json& document, Dialect dialect);

// Whether the request that was read continues a conversation which the provider has (Responses:
// previous_response_id, conversation). Its results may answer calls that are not in it.
bool continues_elsewhere(const Conversation& conversation);

}  // namespace parley
