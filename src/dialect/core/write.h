// write() and gather(): a DocumentWriter writes one document, either into one buffer or as a list of pieces.
// Wires and kept fragments are reused, the rest is written once by the dialect's row.
//
// One thread at a time, for one document.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/core/envelope.h"
#include "dialect/core/fragments.h"
#include "dialect/format.h"
#include "json/out.h"
#include "parley/dialect/dialect.h"

namespace parley::dialect {

class DocumentWriter {
 public:
  DocumentWriter(const Conversation& conversation, Dialect target, const WriteOptions& options,
                 Gathering* pieces)
      : conversation_(conversation),
        messages_(conversation.messages()),
        format_(format_of(target)),
        target_(target),
        options_(options),
        pieces_(pieces) {}

  // Fails with BrokenHistory (D6) or, under `strict`, with Lossy.
  Result<void> run();
  Text take() { return std::move(text_); }
  std::vector<Note> notes;

 private:
  // The document this conversation came from, if its envelope can be written as it is.
  const Arena* own_document() const;
  bool reuses_wire(const Message& message) const;
  // A message that is reused as it is, or whose wire is remembered, belongs to no group and to no other
  // place.
  bool stands_apart(const Message& message) const;
  // Read in another dialect, and without a memory of having been this one's.
  bool is_foreign(const Message& message) const;

  // What was read in this dialect is written as it is, and what is being built is the builder's to answer
  // for. The calls of an answer wait for their results: that is what it is for.
  Result<void> check_history();
  Result<void> check_calls();
  // Calls that share an id get others where the target needs that (unique_ids.h).
  void part_ids();
  // The messages from the first on that the last writing found whole.
  std::size_t found_whole();

  // What the conversation as a whole says about its messages.
  void look_around();
  bool has_system_inside() const;
  bool several_users_speak() const;
  std::uint8_t hints_for(std::size_t i, std::size_t size) const;
  // The dialect of its wire would write this message together with the one before, or put another before it.
  bool may_be_joined(std::size_t i) const;
  std::size_t expected_size() const;

  // Bytes that live elsewhere: copied into the one buffer, or named as a piece.
  void put(std::string_view bytes);
  // In a list of pieces, what was written here becomes a piece of its own.
  void flush();
  void comma();
  void put_own_document(const Arena& document);
  void put_messages();
  std::size_t group_size(std::size_t from);
  // Messages that stood one after the other in one document are copied with what stood between them.
  std::size_t put_run(std::size_t from);
  // Fragments that were written one after the other are put with the commas between them, all at once.
  void put_fragment(const Fragment& kept);
  void end_run();
  bool put_kept(std::size_t i, std::size_t size);
  void put_written(std::size_t i, std::size_t size);

  // What is around the messages (write_envelope.cc).
  // The envelope of the target, as it is remembered or as it is natural, and what `parley` remembers of
  // others.
  Json envelope(std::string& extra);
  // Notes what a document of `origin` has around its messages and the conversation does not say.
  void note_lost_envelope(Draft& draft, Dialect origin, const Json& wire) const;
  // A member that is a setting of the conversation, or one that the caller gave another value since the
  // document was read.
  bool is_in_settings(const Envelope& envelope, std::string_view place, const Json& wire) const;
  void put_envelope();
  // The envelope with the messages in it, for code that looks for the outcome of an answer: OpenTelemetry has
  // its finish in the message.
  Json with_messages(const Json& around, const MessagesLocation& place) const;
  // What a user says, if that is all there is; as spelled.
  std::optional<std::string_view> only_text() const;
  static bool is_same(const Settings& a, const Settings& b);
  // The envelope of the target, read again.
  std::optional<Conversation> read_again(const Json& around) const;
  // It has the tools and settings of this conversation.
  bool says_all(const Conversation& again) const;
  void note_tool_names(const Json& around);
  void note_model();
  // An answer has one message, or the blocks of one. Several are joined as the dialect joins the parts of a
  // step.
  void put_the_message(const MessagesLocation& place);
  // What a `parley` envelope knows about the target's, or keeps for others.
  Json parley_envelope(Draft& draft, const Json& wire, Json envelope, std::string& extra) const;
  void put_list_or_single(DocumentShape shape);
  // Messages that went to the place of the system part.
  void note_moved_system();
  // Without a place of its own the system part is a message.
  void put_system();
  Result<void> finish();
  void keep_made();

  const Conversation& conversation_;
  std::span<const Message> messages_;
  std::vector<Message> renamed_;  // they are these, if ids had to change
  const Format& format_;
  Dialect target_;
  WriteOptions options_;
  Gathering* pieces_;
  json::Out out_;
  Text text_;
  std::size_t count_ = 0;         // wire messages so far
  std::size_t system_count_ = 0;  // messages at the front that go where the system part has its place
  bool writes_envelope_ = false;  // an object around the messages
  std::size_t first_spoken_ = 0;  // the first message that is no system's
  std::size_t next_apart_ = 0;    // the next message that stands apart
  bool has_media_apart_ = false;  // and so there must be members beside the messages
  unsigned hints_ = 0;            // for all messages
  bool is_whole_ = false;         // the history was looked at, and nothing was found
  std::vector<Made> made_;
  std::string_view run_;  // fragments still to be put
  const void* run_owner_ = nullptr;
};

}  // namespace parley::dialect
