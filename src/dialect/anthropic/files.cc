// Files that Anthropic has, named by their ids.
#include "dialect/anthropic/parts.h"
#include "dialect/rows.h"
#include "parley/json/writer.h"

namespace parley::dialect::anthropic {
namespace {

std::optional<ProviderFile> read_file(const Json& block) {
  const auto id = block.get("source").value_or(block).get("file_id");
  if (!id || !id->is_string()) return std::nullopt;
  const Text type = text_at(block, "/type");
  const bool is_image = type == Text("image") || type == Text("input_image");
  return ProviderFile{*id, is_image, text_at(block, "/title"), text_at(block, "/context")};
}

std::optional<Json> write_file(const ProviderFile& file, bool) {
  json::Writer w;
  w.begin_object().key("type").string(file.is_image ? "image" : "document").key("source").begin_object();
  w.key("type").string("file").key("file_id").value(file.id).end_object();
  if (!file.is_image && !file.name.empty()) w.key("title").string(file.name);
  return w.end_object().take();
}

}  // namespace

const FileBlocks kFiles = {read_file, write_file};

}  // namespace parley::dialect::anthropic
