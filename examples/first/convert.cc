// An OpenAI request as an Anthropic request; what is lost is on stderr.
#include <parley/parley.h>

#include <fstream>
#include <iostream>
int main(int argc, char** argv) {
  std::ifstream in(argc > 1 ? argv[1] : "examples/openai_recipe.json");
  const std::string document(std::istreambuf_iterator<char>(in), {});
  const auto reading = parley::read(document, parley::Dialect::OpenAI);
  if (!reading) return std::cerr << reading.error() << '\n', 1;
  const auto written = parley::write(reading->conversation, parley::Dialect::Anthropic);
  std::cout << written->text << '\n';
  for (const auto& note : written->notes) std::cerr << note << '\n';
}
