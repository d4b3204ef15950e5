#include "media/task.h"

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <random>

#include "parley/media/data_url.h"

namespace bench::media_task {
namespace {

std::string noise(std::size_t size) {
  std::mt19937_64 random(1);
  std::string bytes;
  while (bytes.size() < size) {
    const std::uint64_t word = random();
    bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  bytes.resize(size);
  return bytes;
}

std::string big16(std::uint32_t value) {
  return {static_cast<char>(value >> 8), static_cast<char>(value & 0xFF)};
}
std::string big32(std::uint32_t value) { return big16(value >> 16) + big16(value & 0xFFFF); }

std::string png_chunk(const std::string& name, std::string_view data) {
  std::uint32_t crc = 0xFFFF'FFFF;
  const std::string named = name + std::string(data);
  for (const char c : named) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xEDB8'8320 & -(crc & 1));
  }
  return big32(static_cast<std::uint32_t>(data.size())) + named + big32(~crc);
}

constexpr std::size_t kImageBytes = 10'400'000;

// Chunks of 64 KiB, as Pillow writes them; what they hold is no zlib, which nobody looks at here.
std::string png() {
  constexpr std::size_t kChunk = 65'536;
  std::string out =
      "\x89PNG\r\n\x1A\n" + png_chunk("IHDR", big32(1860) + big32(1860) + std::string("\x08\x02\0\0\0", 5));
  const std::string pixels = noise(kImageBytes);
  for (std::size_t at = 0; at < pixels.size(); at += kChunk) {
    out += png_chunk("IDAT", std::string_view(pixels).substr(at, kChunk));
  }
  return out + png_chunk("IEND", "");
}

std::string jpeg_segment(unsigned char marker, const std::string& payload) {
  return std::string("\xFF") + static_cast<char>(marker) +
         big16(static_cast<std::uint32_t>(payload.size() + 2)) + payload;
}

// `profile` bytes stand before the size, and noise, in which FF is spelt FF 00, behind it.
std::string jpeg(std::size_t profile) {
  constexpr std::size_t kSegment = 65'000;
  std::string out = "\xFF\xD8";
  for (; profile > 0; profile -= std::min(profile, kSegment)) {
    out += jpeg_segment(0xE3, std::string(std::min(profile, kSegment), 'p'));
  }
  out += jpeg_segment(0xC0, "\x08" + big16(2900) + big16(2900) + std::string("\x01\x01\x11\0", 4));
  out += jpeg_segment(0xDA, std::string("\x01\x01\0\0\x3F\0", 6));
  std::string scan;
  for (const char c : noise(kImageBytes)) {
    scan += c;
    if (c == '\xFF') scan += '\0';
  }
  return out + scan.substr(0, kImageBytes - out.size()) + "\xFF\xD9";
}

// What the system takes for memory that was never used is part of the time, as in "fresh memory" of Parley.
std::vector<Contender> fresh_memcpy(const Document& document) {
  if (document.text.size() <= kLarge) return {};
  auto copy = std::make_shared<std::optional<std::string>>();
  return {{"memcpy, fresh memory",
           [copy] {
             copy->reset();
             malloc_trim(0);
           },
           [copy, &document] {
             copy->emplace(document.text);
             return (*copy)->size();
           }}};
}

Document named(std::string name, std::string bytes) {
  std::string text = ::parley::base64_encode(bytes);
  return {std::move(name), std::move(text), std::move(bytes)};
}

std::vector<Document> in_folder(std::string_view folder) {
  std::vector<Document> out;
  if (folder.empty()) return out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".b64") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    std::string bytes = ::parley::base64_decode(text, ::parley::Base64Mode::Forgiving).value_or("");
    out.push_back({entry.path().filename().string(), std::move(text), std::move(bytes)});
  }
  std::ranges::sort(out, {}, &Document::name);
  return out;
}

}  // namespace

std::vector<Group> groups(std::string_view folder) {
  static const Document plain = named("10 MB", noise(7'500'000));
  static const Document lines = [] {
    Document out{"10 MB in lines of 76", {}, plain.bytes};
    for (std::size_t at = 0; at < plain.text.size(); at += 76) out.text += plain.text.substr(at, 76) + "\r\n";
    return out;
  }();
  static const Document middle = named("1 MB", noise(750'000));
  static const Document short_one = named("4 KB", noise(3'000));
  static const std::vector<Document> images = [&] {
    std::vector<Document> out = {named("PNG", png()), named("JPEG", jpeg(0))};
    for (Document& each : in_folder(folder)) out.push_back(std::move(each));
    return out;
  }();
  static const Document behind_some = named("JPEG behind 60 KB", jpeg(60'000));
  static const Document behind_much = named("JPEG behind 1 MB", jpeg(1'000'000));
  std::vector<Group> out;
  for (const Document* document : {&plain, &middle, &short_one}) {
    out.push_back(
        {"base64", document->name, document->text.size(), all_of(*document, fresh_memcpy, parley, table)});
  }
  out.push_back({"base64", lines.name, lines.text.size(), all_of(lines, parley)});
  for (const Document& image : images) {
    out.push_back({"validate", image.name, image.text.size(), all_of(image, parley_validate)});
  }
  for (const Document* image : {&images[0], &images[1], &behind_some, &behind_much}) {
    out.push_back({"image size", image->name, 0, all_of(*image, parley_size)});
  }
  return out;
}

}  // namespace bench::media_task
