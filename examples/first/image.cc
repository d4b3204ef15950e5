// An image: checked, and in a request.
#include <parley/guard/request.h>
#include <parley/parley.h>

#include <fstream>
#include <iostream>
int main(int argc, char** argv) {
  std::ifstream in(argc > 1 ? argv[1] : "examples/first/photo.png", std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  const auto request = parley::parse_user_request("What is this?", std::vector{parley::ImageBytes{bytes}});
  if (!request) return std::cerr << request.error() << '\n', 1;
  std::cout << parley::to_dict(request->message, parley::Dialect::Anthropic)->text() << '\n';
}
