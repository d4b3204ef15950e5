// A Compressor that asks a model, and picks for itself what the model does not say.
//
// Invariants (quoted by tests as COMPRESSOR1..COMPRESSOR4):
//   COMPRESSOR1  The call is in the ledger of the model, as Purpose::Compression.
//   COMPRESSOR2  What the model is shown are the roles, texts, calls and results of the messages: no metadata, no ids,
//       no thinking, no media.
//   COMPRESSOR3  If the model fails, says nothing, is cut off or is late, ExtractiveCompressor answers instead.
//   COMPRESSOR4  An answer is not longer than it may be.
//
// As a Compressor: called by one thread at a time.
#pragma once

#include <memory>

#include "parley/memory/compressor.h"
#include "parley/model/model.h"

namespace parley {

class LlmCompressor : public Compressor {
 public:
  // REQUIRES: a model.
  explicit LlmCompressor(std::shared_ptr<Model> model) : model_(std::move(model)) {}

  Result<CompressionAnswer> compress(const CompressionRequest& request) override;

 private:
  std::shared_ptr<Model> model_;
};

}  // namespace parley
