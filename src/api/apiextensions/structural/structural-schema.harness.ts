// The errors of a validation that is not interrupted.
import { runToEnd } from '../../../base/work/work-slice.ts'
import type { JsonObject } from '../../../schema/json/json-value.ts'
import type { FieldError } from '../../../schema/validation/field-error.ts'
import type { StructuralSchema } from './structural-schema.ts'

export const errorsOf = (schema: StructuralSchema, object: JsonObject, old?: JsonObject): FieldError[] =>
  runToEnd((slice) => schema.validate(object, old, slice))
