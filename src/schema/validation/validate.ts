// validateFields: the constraints on single fields. Rules across fields are functions in the kind's file.
import { js } from '../descriptor/code.ts'
import type { Message } from '../descriptor/field.ts'
import { messageFunctions } from '../descriptor/message-function.ts'
import type { JsonObject } from '../json/json-value.ts'
import type { Checker } from './constraints.ts'
import type { FieldError } from './field-error.ts'
import { generateChecker } from './validate-code.ts'

const checkerOf = messageFunctions<Checker>(generateChecker, [js`object`, js`errors`])

/** Returns all violations, in the order of the fields. */
export function validateFields(message: Message, object: object): FieldError[] {
  const errors: FieldError[] = []
  checkerOf(message).run(object as JsonObject, errors)
  return errors
}
