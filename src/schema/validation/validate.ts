// validateFields: the constraints on single fields. Rules across fields are functions in the kind's file.
import { js } from '../descriptor/code.ts'
import type { Message } from '../descriptor/field.ts'
import { engineMode, messageFunctions, type FunctionMode } from '../descriptor/message-function.ts'
import type { JsonObject } from '../json/json-value.ts'
import type { Checker } from './constraints.ts'
import type { FieldError } from './field-error.ts'
import { composeChecker } from './validate-closures.ts'
import { generateChecker } from './validate-code.ts'

/** Returns all violations, in the order of the fields. */
export function validateFieldsIn(mode: FunctionMode): (message: Message, object: object) => FieldError[] {
  const checkerOf = messageFunctions<Checker>(
    { compose: composeChecker, generate: generateChecker, parameters: [js`object`, js`errors`] },
    mode,
  )
  return (message, object) => {
    const errors: FieldError[] = []
    checkerOf(message).run(object as JsonObject, errors)
    return errors
  }
}

export const validateFields = validateFieldsIn(engineMode)
