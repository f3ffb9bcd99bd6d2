add_library(ts_warnings INTERFACE)
target_compile_options(ts_warnings INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wcast-align
  -Woverloaded-virtual -Wnull-dereference -Wno-missing-field-initializers -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports false positives of these two through std::variant and std::string at -O2.
  target_compile_options(ts_warnings INTERFACE -Wno-maybe-uninitialized -Wno-restrict -Wno-null-dereference -Wno-stringop-overread -Wno-array-bounds -Wno-stringop-overflow -Wno-dangling-pointer -Wno-free-nonheap-object)
endif()
