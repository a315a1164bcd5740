% SPDX-License-Identifier: Apache-2.0

function message = expect_error(identifier, call)
  % MESSAGE = EXPECT_ERROR(IDENTIFIER, CALL)  Fails unless CALL() ends with that error.
  try
    call();
  catch problem
    if ~strcmp(problem.identifier, identifier)
      error('expected the error %s, got %s: %s', identifier, problem.identifier, problem.message);
    end
    message = problem.message;
    return
  end
  error('expected the error %s, got none', identifier);
end
