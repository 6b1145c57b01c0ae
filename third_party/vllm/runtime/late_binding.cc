// SPDX-License-Identifier: Apache-2.0
#include "late_binding.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

// The linker's name for the start of this library.
extern "C" [[gnu::visibility("hidden")]] const ElfW(Ehdr) __ehdr_start;

namespace sm10 {
namespace {

constexpr std::string_view kTorch = "libtorch_cpu.so";
constexpr std::string_view kRemedy = "install the torch release that this vLLM wheel was built for";

// The parts of this library's own ELF image that binding needs.
struct Image {
  ElfW(Addr) base = 0;
  std::span<const ElfW(Rela)> relocations;
  std::span<const ElfW(Rela)> plt_relocations;
  const ElfW(Sym)* symbols = nullptr;
  const char* strings = nullptr;
  ElfW(Addr) relro_start = 0;
  ElfW(Addr) relro_size = 0;
};

void ReadDynamic(const ElfW(Dyn)* dynamic, Image& image) {
  const auto address = [&](ElfW(Addr) value) { return image.base + value; };  // riscv: not relocated in place
  const ElfW(Rela)*rela = nullptr, *plt = nullptr;
  std::size_t rela_size = 0, plt_size = 0;
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    const ElfW(Addr) value = dynamic->d_un.d_ptr;
    switch (dynamic->d_tag) {
      case DT_RELA: rela = reinterpret_cast<const ElfW(Rela)*>(address(value)); break;
      case DT_RELASZ: rela_size = value; break;
      case DT_JMPREL: plt = reinterpret_cast<const ElfW(Rela)*>(address(value)); break;
      case DT_PLTRELSZ: plt_size = value; break;
      case DT_SYMTAB: image.symbols = reinterpret_cast<const ElfW(Sym)*>(address(value)); break;
      case DT_STRTAB: image.strings = reinterpret_cast<const char*>(address(value)); break;
      default: break;
    }
  }
  image.relocations = {rela, rela_size / sizeof(ElfW(Rela))};
  image.plt_relocations = {plt, plt_size / sizeof(ElfW(Rela))};
}

Image OwnImage() {
  Image image;
  const auto* header = &__ehdr_start;
  image.base = reinterpret_cast<ElfW(Addr)>(header);
  const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(image.base + header->e_phoff);
  for (const ElfW(Phdr)& segment : std::span(segments, header->e_phnum)) {
    if (segment.p_type == PT_DYNAMIC) ReadDynamic(reinterpret_cast<const ElfW(Dyn)*>(image.base + segment.p_vaddr), image);
    if (segment.p_type == PT_GNU_RELRO) {
      const ElfW(Addr) page = static_cast<ElfW(Addr)>(sysconf(_SC_PAGESIZE));
      const ElfW(Addr) end = (image.base + segment.p_vaddr + segment.p_memsz) & ~(page - 1);
      image.relro_start = (image.base + segment.p_vaddr) & ~(page - 1);
      image.relro_size = end - image.relro_start;
    }
  }
  return image;
}

int FindTorch(dl_phdr_info* info, std::size_t, void* path) {
  const std::string_view name = info->dlpi_name;
  const std::size_t slash = name.rfind('/');
  const std::string_view file = slash == std::string_view::npos ? name : name.substr(slash + 1);
  if (!file.starts_with(kTorch)) return 0;
  *static_cast<std::string*>(path) = name;
  return 1;
}

// dlopen handle of the loaded torch; its scope includes torch's own libraries.
class TorchHandle {
 public:
  TorchHandle() {
    dl_iterate_phdr(FindTorch, &path_);
    if (!path_.empty()) handle_ = dlopen(path_.c_str(), RTLD_NOW | RTLD_NOLOAD);
  }
  ~TorchHandle() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  TorchHandle(const TorchHandle&) = delete;
  TorchHandle& operator=(const TorchHandle&) = delete;

  explicit operator bool() const { return handle_ != nullptr; }
  const std::string& path() const { return path_; }
  void* Find(const char* name) const {
    void* found = dlsym(handle_, name);
    return found != nullptr ? found : dlsym(RTLD_DEFAULT, name);
  }

 private:
  std::string path_;
  void* handle_ = nullptr;
};

// Where a thread-local variable lives: its library's TLS module and the offset there.
struct TlsPlace {
  ElfW(Addr) address = 0;
  std::size_t module = 0;
  ElfW(Addr) offset = 0;
};

int FindTlsModule(dl_phdr_info* info, std::size_t, void* argument) {
  auto& place = *static_cast<TlsPlace*>(argument);
  const auto start = reinterpret_cast<ElfW(Addr)>(info->dlpi_tls_data);
  if (start == 0) return 0;
  for (const ElfW(Phdr)& segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
    if (segment.p_type != PT_TLS || place.address < start || place.address >= start + segment.p_memsz) continue;
    place.module = info->dlpi_tls_modid;
    place.offset = place.address - start;
    return 1;
  }
  return 0;
}

// `address` is the calling thread's copy, as dlsym gives it.
TlsPlace LocateTls(const void* address) {
  TlsPlace place = {.address = reinterpret_cast<ElfW(Addr)>(address)};
  dl_iterate_phdr(FindTlsModule, &place);
  return place;
}

// psABI: what __tls_get_addr adds to an offset.
constexpr ElfW(Addr) kTlsDtvOffset = 0x800;

// The value that a relocation of `type` against a symbol at `found` stores; false for a type that no code of ours uses.
bool Value(unsigned type, const void* found, ElfW(Addr) addend, ElfW(Addr)& value) {
  switch (type) {
    case R_RISCV_64:
    case R_RISCV_JUMP_SLOT: value = reinterpret_cast<ElfW(Addr)>(found) + addend; return true;
    case R_RISCV_TLS_DTPMOD64: value = LocateTls(found).module; return value != 0;
    case R_RISCV_TLS_DTPREL64: value = LocateTls(found).offset + addend - kTlsDtvOffset; return true;
    default: return false;
  }
}

// Weak by design, and tested for null where used: hooks of start-up files, and the
// initialisers (_ZTH) that a thread-local variable may have.
bool IsOptional(std::string_view name) { return name.starts_with("_ITM_") || name.starts_with("_ZTH") || name == "__gmon_start__"; }

struct Misses {
  std::size_t count = 0;
  std::string first;
};

bool BindOne(const Image& image, const ElfW(Rela)& relocation, const TorchHandle& torch, Misses& misses) {
  const ElfW(Sym)& symbol = image.symbols[ELF64_R_SYM(relocation.r_info)];
  if (symbol.st_shndx != SHN_UNDEF || ELF64_ST_BIND(symbol.st_info) != STB_WEAK) return true;
  const char* name = image.strings + symbol.st_name;
  const void* found = torch.Find(name);
  if (found == nullptr) {
    if (IsOptional(name)) return true;
    if (misses.count++ == 0) misses.first = name;
    return true;
  }
  auto* slot = reinterpret_cast<ElfW(Addr)*>(image.base + relocation.r_offset);
  return Value(ELF64_R_TYPE(relocation.r_info), found, static_cast<ElfW(Addr)>(relocation.r_addend), *slot);
}

}  // namespace

std::string BindToTorch() {
  const TorchHandle torch;
  if (!torch) return "torch is not loaded in this process; import torch before vllm._C";
  const Image image = OwnImage();
  void* relro = reinterpret_cast<void*>(image.relro_start);
  if (image.relro_size != 0 && mprotect(relro, image.relro_size, PROT_READ | PROT_WRITE) != 0) {
    return std::string("mprotect of vllm._C's relocated data failed: ") + std::strerror(errno);
  }
  Misses misses;
  bool known = true;
  for (const auto& relocation : image.relocations) known = BindOne(image, relocation, torch, misses) && known;
  for (const auto& relocation : image.plt_relocations) known = BindOne(image, relocation, torch, misses) && known;
  if (image.relro_size != 0) mprotect(relro, image.relro_size, PROT_READ);
  if (!known) return "vllm._C holds a relocation to torch of an unknown type; this is an error of its build";
  if (misses.count == 0) return "";
  return "vllm._C does not fit " + torch.path() + ": " + std::to_string(misses.count) + " symbols are missing, the first is " + misses.first + "; " +
         std::string(kRemedy);
}

}  // namespace sm10
