# Generates the C++ source with the files of the dashboard: cmake -DFROM=web/dist -DTO=source.cc -P embed_dashboard.cmake.
# The source defines dashboard_files() of http_api/calls/dashboard_file.h. The assembler takes the bytes in (.incbin), because a
# compiler needs seconds and hundreds of megabytes for an array of that size.
get_filename_component(made ${TO} DIRECTORY)
set(made ${made}/dashboard)
file(REMOVE_RECURSE ${made})
file(MAKE_DIRECTORY ${made})
find_program(gzip gzip REQUIRED)

# index.html is served at /, and the files in assets below /assets/, where their names have a hash of their content.
file(GLOB_RECURSE files RELATIVE ${FROM} ${FROM}/*)
list(SORT files)
list(REMOVE_ITEM files index.html)
list(PREPEND files index.html)
set(symbols "")
set(declarations "")
set(rows "")
set(number 0)
foreach(file IN LISTS files)
  if(file STREQUAL "index.html")
    set(path "/")
  elseif(file MATCHES "^assets/[A-Za-z0-9_.-]+[-.][A-Za-z0-9_-]+[.][a-z0-9]+$")
    set(path "/${file}")
  else()
    message(FATAL_ERROR "web/dist/${file} has no place in the dashboard: it is index.html and assets/NAME-HASH.TYPE. "
      "Build web/ again, or remove the file.")
  endif()
  configure_file(${FROM}/${file} ${made}/${number} COPYONLY)
  execute_process(COMMAND ${gzip} -9 -n -c ${FROM}/${file} OUTPUT_FILE ${made}/${number}.gz COMMAND_ERROR_IS_FATAL ANY)
  file(SHA256 ${FROM}/${file} hash)
  string(SUBSTRING ${hash} 0 16 hash)
  foreach(form "" ".gz")
    string(REPLACE "." "_" symbol "duewheel_dashboard_${number}${form}")
    string(APPEND symbols "    \".global ${symbol}, ${symbol}_end\\n\"\n"
      "    \"${symbol}:\\n.incbin \\\"${made}/${number}${form}\\\"\\n${symbol}_end:\\n\"\n")
    string(APPEND declarations "extern const char ${symbol}[], ${symbol}_end[];\n")
  endforeach()
  set(symbol duewheel_dashboard_${number})
  string(APPEND rows "        {\"${path}\", bytes(${symbol}, ${symbol}_end), bytes(${symbol}_gz, ${symbol}_gz_end), \"${hash}\"},\n")
  math(EXPR number "${number} + 1")
endforeach()

file(WRITE ${TO} "#include \"http_api/calls/dashboard_file.h\"

__asm__(
    \".pushsection .rodata\\n\"
${symbols}    \".popsection\\n\");

extern \"C\" {
${declarations}}

namespace duewheel {

std::span<const DashboardFile> dashboard_files() {
    const auto bytes = [](const char* begin, const char* end) {
        return std::string_view(begin, static_cast<std::size_t>(end - begin));
    };
    static const DashboardFile kFiles[] = {
${rows}    };
    return kFiles;
}

}  // namespace duewheel
")
