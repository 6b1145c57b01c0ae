// SPDX-License-Identifier: Apache-2.0
// Python module `ime2_model`: the C model for host tests and tools.

#include <pybind11/native_enum.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include "ime2/model/ime2_model.h"

namespace py = pybind11;

namespace {

constexpr std::size_t kRegisterBytes = std::size_t{IME2_REGISTERS} * IME2_VLENB;

// Raised as ime2_model.IllegalInstruction, a ValueError whose second argument is the Reason.
[[noreturn]] void raise_illegal(ime2_reason reason) {
  const py::object type = py::module_::import("ime2_model").attr("IllegalInstruction");
  PyErr_SetObject(type.ptr(), py::make_tuple(ime2_reason_text(reason), py::cast(reason)).ptr());
  throw py::error_already_set();
}

ime2_insn decode(std::uint32_t word) {
  ime2_insn insn;
  if (const ime2_reason reason = ime2_decode(word, &insn); reason != IME2_LEGAL) raise_illegal(reason);
  return insn;
}

std::uint32_t encode(const ime2_insn& insn) {
  std::uint32_t word = 0;
  if (const ime2_reason reason = ime2_encode(&insn, &word); reason != IME2_LEGAL) raise_illegal(reason);
  return word;
}

std::string text(const ime2_insn& insn) {
  // The text of fields that have no encoding would be a lie.
  encode(insn);
  std::array<char, IME2_TEXT_SIZE> buffer{};
  ime2_text(&insn, buffer.data());
  return buffer.data();
}

ime2_insn make_insn(ime2_form form, std::uint8_t vd, std::uint8_t vs1, std::uint8_t vs2, ime2_type type, bool a_signed, bool b_signed, bool saturate,
                    std::uint8_t slide, std::uint8_t scale, std::uint8_t imm) {
  return {form, type, a_signed, b_signed, saturate, slide, scale, imm, vd, vs1, vs2};
}

bool equal(const ime2_insn& a, const ime2_insn& b) {
  return a.form == b.form && a.type == b.type && a.a_signed == b.a_signed && a.b_signed == b.b_signed && a.saturate == b.saturate && a.slide == b.slide &&
         a.scale == b.scale && a.imm == b.imm && a.vd == b.vd && a.vs1 == b.vs1 && a.vs2 == b.vs2;
}

ime2_state make_state(std::uint32_t vl, std::uint32_t sew, std::int32_t log2_lmul, std::uint32_t vstart, bool vill, bool strict, ime2_rounding mode) {
  return {vl, sew, log2_lmul, vstart, vill, strict, mode};
}

py::bytes step(const std::string_view registers, std::uint32_t word, const ime2_state& state) {
  if (registers.size() != kRegisterBytes) {
    throw py::value_error("registers: " + std::to_string(registers.size()) + " bytes; 32 registers of 128 are " + std::to_string(kRegisterBytes));
  }
  ime2_vregs v;
  std::memcpy(v, registers.data(), kRegisterBytes);
  if (const ime2_reason reason = ime2_step(v, word, &state); reason != IME2_LEGAL) raise_illegal(reason);
  return {reinterpret_cast<const char*>(v), kRegisterBytes};
}

// For each word: the reason (0: legal) and, if it decodes, what its fields encode to (else 0). For exhaustive tests.
py::tuple survey(const py::array_t<std::uint32_t, py::array::c_style>& words, const ime2_state& state) {
  const py::ssize_t count = words.size();
  py::array_t<std::uint8_t> reasons(count);
  py::array_t<std::uint32_t> encoded(count);
  for (py::ssize_t i = 0; i < count; i++) {
    ime2_insn insn;
    std::uint32_t again = 0;
    ime2_reason reason = ime2_decode(words.data()[i], &insn);
    if (reason == IME2_LEGAL) {
      if (ime2_encode(&insn, &again) != IME2_LEGAL) throw std::logic_error("a decoded instruction does not encode");
      reason = ime2_check(&insn, &state);
    }
    reasons.mutable_data()[i] = static_cast<std::uint8_t>(reason);
    encoded.mutable_data()[i] = again;
  }
  return py::make_tuple(reasons, encoded);
}

}  // namespace

PYBIND11_MODULE(ime2_model, m) {
  m.doc() = "The IME2 instruction model: decode, encode, legality and semantics over 32 registers of 128 bytes.";

  py::native_enum<ime2_form>(m, "Form", "enum.Enum", "Instruction forms.")
      .value("DOT", IME2_DOT)
      .value("SP", IME2_SP)
      .value("HP", IME2_HP)
      .value("FDOT", IME2_FDOT)
      .value("PACK", IME2_PACK)
      .value("UNPACK", IME2_UNPACK)
      .value("NPACK", IME2_NPACK)
      .value("NPACK4", IME2_NPACK4)
      .finalize();
  py::native_enum<ime2_type>(m, "Type", "enum.Enum", "Element types of the integer forms.")
      .value("NONE", IME2_NO_TYPE)
      .value("I4", IME2_I4)
      .value("I8", IME2_I8)
      .finalize();
  py::native_enum<ime2_rounding>(m, "Mode", "enum.Enum", "Rounding: r3 once, r1 after each step, r2 before the fused add.")
      .value("r3", IME2_R3)
      .value("r1", IME2_R1)
      .value("r2", IME2_R2)
      .finalize();
  py::native_enum<ime2_reason>(m, "Reason", "enum.Enum", "Why a word is no instruction or may not execute.")
      .value("LEGAL", IME2_LEGAL)
      .value("NOT_IME2", IME2_NOT_IME2)
      .value("RESERVED_FUNCT7", IME2_RESERVED_FUNCT7)
      .value("RESERVED_TYPE", IME2_RESERVED_TYPE)
      .value("RESERVED_SUB", IME2_RESERVED_SUB)
      .value("RESERVED_FUNCT3", IME2_RESERVED_FUNCT3)
      .value("RESERVED_SLIDE", IME2_RESERVED_SLIDE)
      .value("RESERVED_SEGMENT", IME2_RESERVED_SEGMENT)
      .value("ODD_VD", IME2_ODD_VD)
      .value("ODD_VS1", IME2_ODD_VS1)
      .value("VILL", IME2_VILL)
      .value("LMUL", IME2_LMUL)
      .value("SEW", IME2_SEW)
      .value("OVERLAP_VS1", IME2_OVERLAP_VS1)
      .value("OVERLAP_VS2", IME2_OVERLAP_VS2)
      .value("OVERLAP_SCALE", IME2_OVERLAP_SCALE)
      .value("VS1_IS_SCALE", IME2_VS1_IS_SCALE)
      .value("VL", IME2_VL)
      .value("VSTART", IME2_VSTART)
      .value("BAD_FIELD", IME2_BAD_FIELD)
      .finalize();
  const py::exception<std::runtime_error> illegal(m, "IllegalInstruction", PyExc_ValueError);

  py::class_<ime2_insn>(m, "Instruction", "Decoded fields; those that the form does not have are 0.")
      .def(py::init(&make_insn), py::arg("form"), py::arg("vd"), py::arg("vs1"), py::arg("vs2"), py::kw_only(), py::arg("type") = IME2_NO_TYPE,
           py::arg("a_signed") = false, py::arg("b_signed") = false, py::arg("saturate") = false, py::arg("slide") = 0, py::arg("scale") = 0,
           py::arg("imm") = 0)
      .def_readonly("form", &ime2_insn::form)
      .def_readonly("type", &ime2_insn::type)
      .def_readonly("a_signed", &ime2_insn::a_signed)
      .def_readonly("b_signed", &ime2_insn::b_signed)
      .def_readonly("saturate", &ime2_insn::saturate)
      .def_readonly("slide", &ime2_insn::slide)
      .def_readonly("scale", &ime2_insn::scale)
      .def_readonly("imm", &ime2_insn::imm)
      .def_readonly("vd", &ime2_insn::vd)
      .def_readonly("vs1", &ime2_insn::vs1)
      .def_readonly("vs2", &ime2_insn::vs2)
      .def_property_readonly("word", &encode, "The 32-bit encoding; IllegalInstruction if the fields have none.")
      .def("__str__", &text)
      .def("__eq__", &equal, py::is_operator());

  py::class_<ime2_state>(m, "State", "What decides about legality besides the word; the defaults are VLMAX at SEW 8.")
      .def(py::init(&make_state), py::kw_only(), py::arg("vl") = IME2_VLENB, py::arg("sew") = 8, py::arg("log2_lmul") = 0, py::arg("vstart") = 0,
           py::arg("vill") = false, py::arg("strict") = true, py::arg("mode") = IME2_R3);

  m.def("decode", &decode, py::arg("word"), "The instruction of a word; IllegalInstruction if it is none.");
  m.def("step", &step, py::arg("registers"), py::arg("word"), py::arg("state"),
        "The 4096 bytes of v0..v31 after the instruction; IllegalInstruction if it may not execute.");
  m.def("reason_text", [](ime2_reason reason) { return ime2_reason_text(reason); }, py::arg("reason"));
  m.def("survey", &survey, py::arg("words"), py::arg("state"), "Reason codes and re-encoded words of many words.");
  m.def("half_to_double", py::vectorize(ime2_half_to_double), py::arg("bits"), "fp16 bits to double, exact.");
  m.def("double_to_half", py::vectorize(ime2_double_to_half), py::arg("x"), "double to fp16 bits, one rounding to nearest even.");
}
