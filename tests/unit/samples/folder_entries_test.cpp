#include "samples/folder_entries.h"

#include <filesystem>
#include <sys/stat.h>

#include "catch.h"
#include "samples.h"
#include "temp_dir.h"

using namespace qtool;
using namespace qtool::testing;

TEST_CASE("a folder is listed in natural order with the kind of each entry", "[samples]") {
  const TempDir dir;
  dir.write("s_10", "");
  dir.write("s_2", "");
  dir.write(".hidden", "");
  dir.write("d/x", "");
  std::filesystem::create_symlink("nowhere", dir / "link");
  ::mkfifo((dir / "pipe").c_str(), 0600);
  std::string found;
  const auto entries = list_folder(dir.path().string());
  REQUIRE(entries);
  for (const FolderEntry& entry : *entries)
    found += entry.name + "=" + std::to_string(static_cast<int>(entry.kind)) + " ";
  CHECK(found == "d=1 link=2 pipe=3 s_2=0 s_10=0 ");
}

TEST_CASE("what is no folder is told from what cannot be read", "[samples]") {
  const TempDir dir;
  dir.write("f", "");
  CHECK_FALSE(list_folder((dir / "f").string()));
  CHECK(without(failure_of([&] { list_folder((dir / "nosuch").string()); }),
                dir.path().string() + "/") ==
        "exit 5: nosuch: cannot be read: No such file or directory");
}

TEST_CASE("a name is split at its last dot", "[samples]") {
  CHECK(extension("s.1.npy") == ".npy");
  CHECK(stem("s.1.npy") == "s.1");
  CHECK(extension("README").empty());
  CHECK(stem("README") == "README");
}

TEST_CASE("paths are joined with one slash", "[samples]") {
  CHECK(join_path("a", "b") == "a/b");
  CHECK(join_path("a/", "b") == "a/b");
}
