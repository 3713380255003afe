# Warnings and sanitizers, as one target that every target of the project links.
add_library(qtool_options INTERFACE)
target_compile_options(qtool_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlapping copies in the standard library's own string operations.
  target_compile_options(qtool_options INTERFACE -Wno-restrict -Wno-stringop-overflow)
endif()
if(QTOOL_WERROR)
  target_compile_options(qtool_options INTERFACE -Werror)
endif()
if(QTOOL_SANITIZE)
  target_compile_options(qtool_options INTERFACE -fsanitize=${QTOOL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(qtool_options INTERFACE -fsanitize=${QTOOL_SANITIZE})
endif()
