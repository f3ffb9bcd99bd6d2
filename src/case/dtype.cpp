#include <array>

#include "case/case.h"

namespace tunesmith {

namespace {

struct DtypeInfo {
  Dtype dtype;
  std::size_t size;
  const char* name;
  const char* c_type;
};

constexpr std::array<DtypeInfo, 12> k_dtypes{{{Dtype::f64, 8, "f64", "double"},
                                              {Dtype::f32, 4, "f32", "float"},
                                              {Dtype::f16, 2, "f16", "_Float16"},
                                              {Dtype::bf16, 2, "bf16", "unsigned short"},
                                              {Dtype::i64, 8, "i64", "long long"},
                                              {Dtype::i32, 4, "i32", "int"},
                                              {Dtype::i16, 2, "i16", "short"},
                                              {Dtype::i8, 1, "i8", "signed char"},
                                              {Dtype::u64, 8, "u64", "unsigned long long"},
                                              {Dtype::u32, 4, "u32", "unsigned int"},
                                              {Dtype::u16, 2, "u16", "unsigned short"},
                                              {Dtype::u8, 1, "u8", "unsigned char"}}};

const DtypeInfo& info_of(Dtype dtype) {
  for (const DtypeInfo& info : k_dtypes) {
    if (info.dtype == dtype) return info;
  }
  return k_dtypes[1];
}

}  // namespace

std::size_t size_of(Dtype dtype) { return info_of(dtype).size; }
const char* name_of(Dtype dtype) { return info_of(dtype).name; }
const char* c_type_of(Dtype dtype) { return info_of(dtype).c_type; }

std::optional<Dtype> dtype_from_name(std::string_view name) {
  for (const DtypeInfo& info : k_dtypes) {
    if (name == info.name) return info.dtype;
  }
  return std::nullopt;
}

bool is_float(Dtype dtype) {
  return dtype == Dtype::f64 || dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16;
}

}  // namespace tunesmith
