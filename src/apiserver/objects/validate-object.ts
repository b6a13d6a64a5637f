// validateObject: the metadata, the fields and the rules of an object's kind.
import type { Kind } from '../../api/kind/kind.ts'
import { validateMetadata } from '../../api/validation/metadata-rules.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { invalidObject } from '../../api/errors/status-error.ts'
import type { FieldError } from '../../schema/validation/field-error.ts'

export const validateObject = (kind: Kind, object: ApiObject, old?: ApiObject): readonly FieldError[] =>
  concat(validateShape(kind, object), kind.validate(object, old))

export const validateShape = (kind: Kind, object: ApiObject): readonly FieldError[] =>
  concat(validateMetadata(object, kind), kind.schema.validateFields(object))

/** Both lists as one; no list is copied where the other is empty. */
export const concat = <T>(some: readonly T[], more: readonly T[]): readonly T[] =>
  some.length === 0 ? more : more.length === 0 ? some : [...some, ...more]

export function throwIfInvalid(kind: Kind, object: ApiObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject(kind.group, kind.kind, object.metadata.name ?? '', errors)
}
