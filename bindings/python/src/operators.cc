// SPDX-License-Identifier: Apache-2.0
#include "operators.h"

#include "array.h"
#include "draft.h"

namespace nb = nanobind;

namespace warpool::python {
namespace {

nb::object numpy_operand(PyObject* operand) {
  const bool ours = nb::isinstance<Array>(operand) || nb::isinstance<Draft>(operand);
  return ours ? as_numpy(operand) : nb::borrow(operand);
}

/** Runs `body`, which may throw, and gives null with the Python exception set if it does. */
template <typename Body>
PyObject* guarded(Body&& body) {
  try {
    return body();
  } catch (nb::python_error& error) {
    error.restore();
    return nullptr;
  }
}

template <binaryfunc kFunction>
PyObject* binary(PyObject* left, PyObject* right) {
  return guarded([=] { return kFunction(numpy_operand(left).ptr(), numpy_operand(right).ptr()); });
}

template <binaryfunc kFunction>
PyObject* in_place(PyObject* self, PyObject* other) {
  return guarded([=]() -> PyObject* {
    // NumPy writes into the view, or raises; its result is the view itself.
    const nb::object result =
        nb::steal(kFunction(numpy_operand(self).ptr(), numpy_operand(other).ptr()));
    return result.is_valid() ? Py_NewRef(self) : nullptr;
  });
}

template <unaryfunc kFunction>
PyObject* unary(PyObject* operand) {
  return guarded([=] { return kFunction(numpy_operand(operand).ptr()); });
}

PyObject* power(PyObject* left, PyObject* right, PyObject* modulus) {
  return guarded([=] {
    return PyNumber_Power(numpy_operand(left).ptr(), numpy_operand(right).ptr(), modulus);
  });
}

PyObject* in_place_power(PyObject* self, PyObject* other, PyObject* modulus) {
  return guarded([=]() -> PyObject* {
    const nb::object result = nb::steal(
        PyNumber_InPlacePower(numpy_operand(self).ptr(), numpy_operand(other).ptr(), modulus));
    return result.is_valid() ? Py_NewRef(self) : nullptr;
  });
}

PyObject* compare(PyObject* left, PyObject* right, int operation) {
  return guarded([=] {
    return PyObject_RichCompare(numpy_operand(left).ptr(), numpy_operand(right).ptr(), operation);
  });
}

int is_true(PyObject* self) {
  const nb::object truth = nb::steal(guarded([=]() -> PyObject* {
    const int result = PyObject_IsTrue(as_numpy(self).ptr());
    return result < 0 ? nullptr : PyBool_FromLong(result);
  }));
  return truth.is_valid() ? static_cast<int>(truth.is(Py_True)) : -1;
}

}  // namespace

nb::object as_numpy(nb::handle object) {
  return nb::module_::import_("numpy").attr("asarray")(object);
}

std::vector<PyType_Slot> operator_slots() {
  return {
      slot(Py_tp_richcompare, compare),
      slot(Py_tp_hash, PyObject_HashNotImplemented),
      slot(Py_tp_iter, unary<PyObject_GetIter>),
      slot(Py_nb_bool, is_true),
      slot(Py_nb_add, binary<PyNumber_Add>),
      slot(Py_nb_subtract, binary<PyNumber_Subtract>),
      slot(Py_nb_multiply, binary<PyNumber_Multiply>),
      slot(Py_nb_true_divide, binary<PyNumber_TrueDivide>),
      slot(Py_nb_floor_divide, binary<PyNumber_FloorDivide>),
      slot(Py_nb_remainder, binary<PyNumber_Remainder>),
      slot(Py_nb_matrix_multiply, binary<PyNumber_MatrixMultiply>),
      slot(Py_nb_and, binary<PyNumber_And>),
      slot(Py_nb_or, binary<PyNumber_Or>),
      slot(Py_nb_xor, binary<PyNumber_Xor>),
      slot(Py_nb_lshift, binary<PyNumber_Lshift>),
      slot(Py_nb_rshift, binary<PyNumber_Rshift>),
      slot(Py_nb_power, power),
      slot(Py_nb_negative, unary<PyNumber_Negative>),
      slot(Py_nb_positive, unary<PyNumber_Positive>),
      slot(Py_nb_absolute, unary<PyNumber_Absolute>),
      slot(Py_nb_invert, unary<PyNumber_Invert>),
      slot(Py_nb_float, unary<PyNumber_Float>),
      slot(Py_nb_int, unary<PyNumber_Long>),
      slot(Py_nb_index, unary<PyNumber_Index>),
  };
}

std::vector<PyType_Slot> in_place_operator_slots() {
  return {
      slot(Py_nb_inplace_add, in_place<PyNumber_InPlaceAdd>),
      slot(Py_nb_inplace_subtract, in_place<PyNumber_InPlaceSubtract>),
      slot(Py_nb_inplace_multiply, in_place<PyNumber_InPlaceMultiply>),
      slot(Py_nb_inplace_true_divide, in_place<PyNumber_InPlaceTrueDivide>),
      slot(Py_nb_inplace_floor_divide, in_place<PyNumber_InPlaceFloorDivide>),
      slot(Py_nb_inplace_remainder, in_place<PyNumber_InPlaceRemainder>),
      slot(Py_nb_inplace_and, in_place<PyNumber_InPlaceAnd>),
      slot(Py_nb_inplace_or, in_place<PyNumber_InPlaceOr>),
      slot(Py_nb_inplace_xor, in_place<PyNumber_InPlaceXor>),
      slot(Py_nb_inplace_lshift, in_place<PyNumber_InPlaceLshift>),
      slot(Py_nb_inplace_rshift, in_place<PyNumber_InPlaceRshift>),
      slot(Py_nb_inplace_power, in_place_power),
  };
}

}  // namespace warpool::python
