// A program outside Parley's tree, built against the installed package.
#include <parley/parley.h>

#include <cstdio>

int main() {
  const auto reading =
      parley::read(R"([{"role":"user","content":"hi","mood":1e400}])", parley::Dialect::OpenManus);
  if (!reading) return 1;
  const auto written = parley::write(reading->conversation, parley::Dialect::AgentScope);
  std::puts(written ? written->text.str().c_str() : written.error().message.c_str());
  if (!written || written->notes.size() != 2) return 1;
  return parley::Encoding::o200k_base().count("How are you?") == 4 ? 0 : 1;
}
