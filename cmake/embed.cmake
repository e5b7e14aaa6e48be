# Generates a C++ source that contains a file: cmake -DFROM=file -DTO=source.cc -DNAME=function -P embed.cmake. The source
# defines `std::string_view duewheel::function()`, which its users declare.
file(READ ${FROM} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
string(REGEX REPLACE "((......,){16})" "\\1\n" bytes "${bytes}")
file(WRITE ${TO}
  "#include <string_view>\n\nnamespace duewheel {\n\nstd::string_view ${NAME}();\n\n"
  "std::string_view ${NAME}() {\n    static constexpr char kBytes[] = {\n${bytes}};\n"
  "    return {kBytes, sizeof kBytes};\n}\n\n}  // namespace duewheel\n")
