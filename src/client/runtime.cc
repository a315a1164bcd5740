// SPDX-License-Identifier: Apache-2.0
// What the compiler would take from the C++ run-time library. libwarpool is loaded into programs that bring their own, older or newer one
// (MATLAB ships one), so it has none. Everything here is hidden: the host never sees these operators.
#include <cstdlib>
#include <new>

namespace {

/// Out of memory for a few bytes of bookkeeping: Linux overcommits, so this means that the address space or the memory cgroup is
/// exhausted and nothing of the process will go on. Arrays themselves are allocated with checks.
void* allocate(std::size_t bytes) {
  void* memory = std::malloc(bytes > 0 ? bytes : 1);
  if (memory == nullptr) __builtin_trap();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) {
  return allocate(bytes);
}
void* operator new[](std::size_t bytes) {
  return allocate(bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

// Containers of the standard library call these for sizes that our bounds exclude.
namespace std {
[[noreturn]] void __throw_length_error(const char*) {
  __builtin_trap();
}
[[noreturn]] void __throw_bad_alloc() {
  __builtin_trap();
}
[[noreturn]] void __throw_bad_array_new_length() {
  __builtin_trap();
}
[[noreturn]] void __throw_out_of_range_fmt(const char*, ...) {
  __builtin_trap();
}
[[noreturn]] void __throw_bad_optional_access() {
  __builtin_trap();
}
}  // namespace std

extern "C" void __cxa_pure_virtual() {
  __builtin_trap();
}
