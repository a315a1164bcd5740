// SPDX-License-Identifier: Apache-2.0
#include "failure.h"

#include <octave/oct.h>

#include <string>

namespace warpool_oct {

void raise(const warpool_error& error) {
  if (error.code == WARPOOL_INTERRUPTED) {
    throw octave::interrupt_exception();
  }
  const std::string id = std::string("warpool:") + warpool_status_name(error.code);
  // Octave appends nothing to a message, but reads a trailing newline as "no traceback": messages have none.
  error_with_id(id.c_str(), "%s", error.message);
  throw octave::
      execution_exception();  // error_with_id does not return; older headers do not say so
}

int interrupted(void*) {
  try {
    OCTAVE_QUIT;
  } catch (const octave::interrupt_exception&) {
    // No exception may pass through the library; raise() throws it again when the call has come back.
    return 1;
  } catch (...) {
    return 1;
  }
  return 0;
}

}  // namespace warpool_oct
