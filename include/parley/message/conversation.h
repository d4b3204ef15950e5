// Conversation is a list of messages with its system part, tools and settings, or a model's response with
// its outcome: the content of a document.
//
// Invariants (quoted by tests as CONVERSATION1..CONVERSATION2):
//   CONVERSATION1  Appending a message copies no payload.
//   CONVERSATION2  A conversation that was read keeps the document around its messages, so that writing it
//                  back gives the same bytes.
//
// A value; one thread at a time. Copies share everything that is immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "parley/message/message.h"
#include "parley/message/outcome.h"
#include "parley/message/settings.h"

namespace parley {

// A tool that a model may use.
struct Tool {
  Text name;
  Text description;
  Json parameters;         // a JSON Schema
  bool is_custom = false;  // it takes any text, and has no schema
  bool operator==(const Tool&) const = default;
};

// The structure of the document around the messages.
enum class DocumentShape : std::uint8_t {
  List,      // a bare array of messages
  Single,    // one message
  Envelope,  // an object with the messages in one of its members: a request
  Response,  // a model's response, with its message inside
};

class Conversation {
 public:
  Conversation() = default;
  explicit Conversation(std::vector<Message> messages) : messages_(std::move(messages)) {}

  std::span<const Message> messages() const { return messages_; }
  std::size_t size() const { return messages_.size(); }
  void append(Message message) { messages_.push_back(std::move(message)); }
  void set_messages(std::vector<Message> messages) { messages_ = std::move(messages); }
  void reserve(std::size_t messages) { messages_.reserve(messages); }

  const std::optional<Message>& system() const { return system_; }
  void set_system(std::optional<Message> system);
  std::span<const Tool> tools() const { return tools_; }
  void set_tools(std::vector<Tool> tools);

  const Settings& settings() const { return settings_; }
  void set_settings(Settings settings);
  const std::optional<Outcome>& outcome() const { return outcome_; }
  void set_outcome(std::optional<Outcome> outcome);

  DocumentShape shape() const { return shape_; }
  void set_shape(DocumentShape shape) {
    shape_ = shape;
    envelope_intact_ = false;
  }

  // The document the messages were read from; null for a conversation made through the API.
  const std::shared_ptr<const Arena>& document() const { return document_; }
  // Called last by readers: the envelope now matches the document.
  void set_document(std::shared_ptr<const Arena> document) {
    document_ = std::move(document);
    envelope_intact_ = true;
  }
  // False once a setter has changed anything around the messages.
  bool envelope_is_intact() const { return envelope_intact_; }

 private:
  std::vector<Message> messages_;
  std::optional<Message> system_;
  std::vector<Tool> tools_;
  Settings settings_;
  std::optional<Outcome> outcome_;
  DocumentShape shape_ = DocumentShape::List;
  std::shared_ptr<const Arena> document_;
  bool envelope_intact_ = false;
};

}  // namespace parley
