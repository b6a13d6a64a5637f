// validateObject: the metadata, the fields and the rules of an object's kind.
import { thenMaybe, type MaybePromise } from '../../base/async/maybe-promise.ts'
import type { Clock } from '../../base/time/clock.ts'
import { runInSlices } from '../../base/work/work-slice.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { validateMetadata } from '../../api/validation/metadata-rules.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { invalidObject } from '../../api/errors/status-error.ts'
import type { FieldError } from '../../schema/validation/field-error.ts'

/** Synchronous, unless the validation takes long. */
export function validateObject(
  kind: Kind,
  object: ApiObject,
  old: ApiObject | undefined,
  clock: Clock,
  signal: AbortSignal,
): MaybePromise<readonly FieldError[]> {
  const shape = validateShape(kind, object, old === undefined)
  const { validateInSlices } = kind
  if (validateInSlices === undefined) return concat(shape, kind.validate(object, old))
  const errors = runInSlices((slice) => validateInSlices(object, old, slice), clock, signal)
  return thenMaybe(errors, (known) => concat(shape, known))
}

export const validateShape = (kind: Kind, object: ApiObject, isNew = false): readonly FieldError[] =>
  concat(validateMetadata(object, kind, isNew), kind.schema.validateFields(object))

/** Both lists as one; no list is copied where the other is empty. */
export const concat = <T>(some: readonly T[], more: readonly T[]): readonly T[] =>
  some.length === 0 ? more : more.length === 0 ? some : [...some, ...more]

export function throwIfInvalid(kind: Kind, object: ApiObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject(kind.group, kind.kind, object.metadata.name ?? '', errors)
}
