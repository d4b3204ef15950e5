#include "parley/guard/request.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "media/image/sample_images_testing.h"
#include "parley/message/validate.h"

namespace parley {
namespace {

using namespace samples;

Error refused(std::string_view text, std::vector<std::string_view> images = {},
              const RequestOptions& options = {}) {
  const Result<UserRequest> request = parse_user_request(text, images, options);
  EXPECT_FALSE(request) << text;
  return request ? Error{} : request.error();
}

TEST(UserRequest, IsAUserMessageOfATextAlone) {  // USER_REQUEST1
  const UserRequest request = parse_user_request("What is this?").value();
  EXPECT_EQ(request.message.role(), Role::User);
  EXPECT_EQ(request.message.content_shape(), ContentShape::String);
  EXPECT_EQ(request.message.content()->view(), "What is this?");
  EXPECT_TRUE(request.images.empty());
}

TEST(UserRequest, TakesEveryFormatAndLabelsItByItsBytes) {  // USER_REQUEST1, USER_REQUEST2
  const std::string images[] = {png(), jpeg(), gif(), bmp(2, 2), webp(), tiff()};
  const char* types[] = {"image/png", "image/jpeg", "image/gif", "image/bmp", "image/webp", "image/tiff"};
  for (std::size_t i = 0; i < std::size(images); ++i) {
    const std::string base64 = base64_encode(images[i]);
    const std::string url = "data:image/x-odd;base64," + base64;
    const std::string_view both[] = {base64, url};
    const UserRequest request = parse_user_request("Look.", both).value();
    const std::vector<Block> blocks = request.message.blocks();
    ASSERT_EQ(blocks.size(), 3U) << types[i];
    for (std::size_t k = 1; k < blocks.size(); ++k) {
      const auto& source = std::get<Base64Source>(blocks[k].as<ImageBlock>()->source);
      EXPECT_EQ(source.media_type.view(), types[i]);
      EXPECT_EQ(source.data.view(), base64);  // USER_REQUEST3
    }
    const std::vector<std::string> told = {
        std::string("/images/1: declared as image/x-odd, but the bytes are ") + types[i]};
    EXPECT_EQ(request.corrections, told);
    EXPECT_EQ(media_type(request.images.at(0).format), types[i]);
    EXPECT_TRUE(validate({&request.message, 1}).empty());
  }
}

TEST(UserRequest, SpellsBase64Canonically) {  // USER_REQUEST3
  const std::string base64 = base64_encode(png());
  std::string loose = base64;
  while (loose.back() == '=') loose.pop_back();
  loose.insert(20, "\r\n ");
  const UserRequest request = parse_user_request("Look.", loose).value();
  EXPECT_EQ(request.message.base64_image()->view(), base64);
}

// The classes of the seed: no content, no image, no data URL, characters, length, size, format, sides.
TEST(UserRequest, NamesTheRefusedPartAndTheReason) {  // USER_REQUEST4
  struct Case {
    std::string image;
    Code code;
    const char* says;
  };
  const Case cases[] = {
      {"", Code::Invalid, "the image is empty"},
      {"data:image/png;base64", Code::Invalid, "comma"},
      {"data:image/png;base64,", Code::Unsupported, "an image"},
      {"data:text/html;base64," + base64_encode(png()), Code::Unsupported, "labelled"},
      {"data:image/png," + base64_encode(png()), Code::Unsupported, "an image"},
      {"iVBORw0KGgo-_", Code::Invalid, "base64"},
      {"iVBORw0KGgoAA", Code::Invalid, "base64"},
      {base64_encode("this is no image"), Code::Unsupported, "an image"},
      {base64_encode("<svg xmlns='http://www.w3.org/2000/svg'/>"), Code::Unsupported, "an image"},
      {base64_encode(png().substr(0, png().size() - 14)), Code::Invalid, "PNG"},
      {base64_encode(png(8193, 1)), Code::LimitExceeded, "8192"},
      {base64_encode(bmp(2048, 1707)), Code::LimitExceeded, "bytes"},
  };
  for (const Case& each : cases) {
    const std::string good = base64_encode(png());
    const Error error = refused("Look.", {good, each.image});
    EXPECT_EQ(error.code, each.code) << each.image.substr(0, 40);
    EXPECT_EQ(error.path, "/images/1");
    EXPECT_NE(error.message.find(each.says), std::string::npos) << error.message;
  }
  for (const char* text : {"", " ", "\n\t\r "}) {
    EXPECT_EQ(refused(text).code, Code::Missing);
    EXPECT_EQ(refused(text).path, "/text");
  }
  EXPECT_EQ(refused("caf\xE9").code, Code::InvalidUtf8);
  EXPECT_EQ(refused("\xED\xA0\x80").code, Code::InvalidUtf8);  // half of a surrogate pair
}

TEST(UserRequest, TakesTheBytesOfAnImage) {
  const std::string one = png();
  const std::string two = jpeg();
  const ImageBytes bytes[] = {{one}, {two}};
  const std::string encoded[] = {base64_encode(one), base64_encode(two)};
  const std::string_view base64[] = {encoded[0], encoded[1]};
  const UserRequest request = parse_user_request("Look.", bytes).value();
  EXPECT_TRUE(request.message.blocks() == parse_user_request("Look.", base64)->message.blocks());
  EXPECT_EQ(request.images.size(), 2U);
  const ImageBytes broken[] = {{one}, {"no image"}};
  const auto error = parse_user_request("Look.", broken);
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().code, Code::Unsupported);
  EXPECT_EQ(error.error().path, "/images/1");
  // What looks like base64 is taken as bytes.
  const ImageBytes text[] = {{encoded[0]}};
  EXPECT_FALSE(parse_user_request("Look.", text));
}

TEST(UserRequest, HoldsItsLimits) {
  RequestOptions options;
  options.text_bytes = 5;
  options.images = 2;
  const std::string image = base64_encode(png());
  EXPECT_TRUE(parse_user_request("12345", std::vector<std::string_view>{image, image}, options));
  EXPECT_EQ(refused("123456", {}, options).code, Code::LimitExceeded);
  const Error error = refused("12345", {image, image, image}, options);
  EXPECT_EQ(error.code, Code::LimitExceeded);
  EXPECT_EQ(error.path, "/images");
}

}  // namespace
}  // namespace parley
