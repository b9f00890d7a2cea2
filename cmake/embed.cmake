# cmake -DFILES="a.target;b.target" -DNAMES="a;b" -DHEADER=target/embedded.h -DTYPE=sl_embedded_target -DOUTPUT=out.c -P embed.cmake
# Writes each file as a NUL-terminated byte array: string literals longer than 4095 bytes are not portable C11. The array
# of all of them is TYPEs[], of struct TYPE, as HEADER declares them.
set(arrays "")
set(rows "")
set(count 0)
foreach(file name IN ZIP_LISTS FILES NAMES)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n  " bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "static const unsigned char text_${count}[] = {\n  ${bytes}0x00\n};\n")
  string(APPEND rows "  { \"${name}\", (const char *)text_${count} },\n")
  math(EXPR count "${count} + 1")
endforeach()
if(count EQUAL 0)
  set(rows "  { 0, 0 }\n")
endif()
file(WRITE ${OUTPUT} "/* Made by cmake/embed.cmake. */
#include \"${HEADER}\"

${arrays}
const struct ${TYPE} ${TYPE}s[] = {
${rows}};
const unsigned ${TYPE}_count = ${count};
")
