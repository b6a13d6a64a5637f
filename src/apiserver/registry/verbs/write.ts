// What creates and updates share: their input and result.
import { badRequest } from '../../../api/errors/status-error.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import { without } from '../../../schema/json/json-value.ts'
import type { BodySource } from '../../objects/decode-object.ts'
import type { ManagedFields } from '../../objects/managed-fields.ts'
import type { ResourceRequest, StrictErrors } from '../../request/request.ts'
import type { StoredObject } from '../../storage/stored-object.ts'

export interface WriteResult {
  readonly stored: StoredObject
  readonly warnings: readonly string[]
}

/** What a client sent. Where `managedFields` is left out, it is computed from the fields that change. */
export interface WriteInput extends BodySource {
  readonly body: unknown
  readonly managedFields?: ManagedFields
}

export const strictErrorsOf = ({ body }: ResourceRequest): StrictErrors | undefined =>
  body.kind === 'value' ? body.strictErrors : undefined

// Copying all properties is much faster than copying all but some, so a property is removed only where it exists.
export function withManagedFields(object: ApiObject, managedFields: ManagedFields): ApiObject {
  const { metadata } = object
  if (managedFields.length > 0) return { ...object, metadata: { ...metadata, managedFields } }
  return metadata.managedFields === undefined ? object : { ...object, metadata: without(metadata, 'managedFields') }
}

/** Throws unless the object is the one that the URL names. */
export function checkName({ name, namespace }: Partial<ApiObject['metadata']>, { target }: ResourceRequest): void {
  if (!name)
    throw badRequest(`the name of the object (${target.name} based on URL) was undeterminable: name must be provided`)
  if (name !== target.name)
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${target.name})`)
  if (target.resource.namespaced && namespace && namespace !== target.namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
}
