// A Compressor that asks a model, with ExtractiveCompressor as its fallback.
//
// Invariants (quoted by tests as COMPRESSOR1..COMPRESSOR4):
//   COMPRESSOR1  The call is in the ledger of the model, as Purpose::Compression.
//   COMPRESSOR2  The model sees roles, texts, tool uses and results: no metadata, no ids, no thinking, no
//                media.
//   COMPRESSOR3  If the model fails, returns nothing, is cut off or is late, ExtractiveCompressor is used.
//   COMPRESSOR4  A summary is at most CompressionRequest::most_bytes long.
//
// As a Compressor: called by one thread at a time.
#pragma once

#include <memory>

#include "parley/memory/compressor.h"
#include "parley/model/model.h"

namespace parley {

class LlmCompressor : public Compressor {
 public:
  // REQUIRES: model is not null.
  explicit LlmCompressor(std::shared_ptr<Model> model) : model_(std::move(model)) {}

  Result<CompressionAnswer> compress(const CompressionRequest& request) override;

 private:
  std::shared_ptr<Model> model_;
};

}  // namespace parley
