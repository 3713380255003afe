#include "model/messages.h"

#include "catch.h"

using namespace qtool;

TEST_CASE("messages: a name is quoted, printable and not too long", "[model]") {
  CHECK(in_quotes("w1") == "'w1'");
  CHECK(in_quotes("\x1b[2J") == "'\\x1b[2J'");
  CHECK(in_quotes(std::string(5000, 'n')).size() < 250);
}
