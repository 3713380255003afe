#pragma once

// Debian 12 ships Catch2 2, Debian 13 ships Catch2 3: tests include this header instead of either.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
