#include <malloc.h>

#include <memory>
#include <optional>

#include "media/base64_kernel.h"
#include "media/task.h"
#include "parley/media/data_url.h"
#include "parley/media/image.h"
#include "parley/media/media_type.h"

namespace bench::media_task {
namespace {

using ::parley::Base64Mode;
using ::parley::base64::Kernel;

std::vector<const Kernel*> supported_kernels() {
  std::vector<const Kernel*> out;
  for (const Kernel* kernel : ::parley::base64::kernels()) {
    if (kernel->supported()) out.push_back(kernel);
  }
  return out;
}

void use_fastest() { ::parley::base64::use_kernel(*supported_kernels().back()); }

void add(std::vector<Contender>& out, const Kernel& kernel, const Document& document) {
  const std::string name = "Parley " + std::string(kernel.name);
  // What comes out is kept until the next call and dropped before its time starts.
  auto kept = std::make_shared<std::optional<std::string>>();
  const auto prepare = [&kernel, kept] {
    ::parley::base64::use_kernel(kernel);
    kept->reset();
  };
  const auto decode = [&document, kept](Base64Mode mode) {
    *kept = ::parley::base64_decode(document.text, mode).value_or("");
    return (*kept)->size();
  };
  out.push_back({name + ", forgiving", prepare, [decode] { return decode(Base64Mode::Forgiving); }});
  if (document.text.contains('\n')) return;
  const auto strict = [decode] { return decode(Base64Mode::Canonical); };
  out.push_back({name + ", decode", prepare, strict});
  if (document.text.size() > kLarge) {
    out.push_back({name + ", decode, fresh memory",
                   [prepare] {
                     prepare();
                     malloc_trim(0);
                   },
                   strict});
  }
  out.push_back({name + ", check", prepare,
                 [&document] { return ::parley::base64_check(document.text) ? document.text.size() : 0; }});
  out.push_back({name + ", encode", prepare, [&document, kept] {
                   *kept = ::parley::base64_encode(document.bytes);
                   return (*kept)->size();
                 }});
}

}  // namespace

std::vector<Contender> parley(const Document& document) {
  std::vector<Contender> out;
  for (const Kernel* kernel : supported_kernels()) add(out, *kernel, document);
  return out;
}

std::vector<Contender> parley_validate(const Document& document) {
  ::parley::ImageOptions header;
  header.level = ::parley::ImageLevel::Header;
  return {{"Parley validate_base64_image", use_fastest,
           [&document] { return std::size_t{::parley::validate_base64_image(document.text).ok}; }},
          {"Parley validate_base64_image, fresh memory",
           [] {
             use_fastest();
             malloc_trim(0);
           },
           [&document] { return std::size_t{::parley::validate_base64_image(document.text).ok}; }},
          {"Parley check_base64_image", use_fastest,
           [&document, header] {
             return std::size_t{::parley::check_base64_image(document.text, header).valid()};
           }},
          {"Parley check_image, of the bytes", {}, [&document, header] {
             return std::size_t{::parley::check_image(document.bytes, header).valid()};
           }}};
}

std::vector<Contender> parley_size(const Document& document) {
  constexpr std::size_t kTimes = 100;
  return {{"Parley base64_image_size",
           {},
           [&document] {
             std::size_t width = 0;
             for (std::size_t i = 0; i < kTimes; ++i) {
               const auto size = ::parley::base64_image_size(document.text);
               keep(&size);
               width = size ? size->width : 0;
             }
             return width;
           },
           kTimes}};
}

}  // namespace bench::media_task
