// Admission: is it acceptable? Plugins may change an object before validation, and refuse it after.
import type { Kind } from '../../api/kind.ts'
import type { ApiObject } from '../../api/object.ts'
import type { User, Verb } from '../request.ts'

export interface AdmissionAttributes {
  readonly operation: Extract<Verb, 'create' | 'update' | 'delete'>
  readonly kind: Kind
  readonly namespace: string
  readonly name: string
  readonly subresource: string
  readonly user: User
  /** Absent when an object is deleted. */
  readonly object: ApiObject | undefined
  /** Absent when an object is created. */
  readonly old: ApiObject | undefined
}

/** What plugins may read: the registry's caches, never a client. */
export interface AdmissionReads {
  get(kind: Kind, namespace: string, name: string): ApiObject | undefined
}

export interface AdmissionPlugin {
  readonly name: string
  /** Returns the object, changed or not; throws a StatusError to refuse. */
  admit?(attributes: AdmissionAttributes, reads: AdmissionReads): ApiObject | undefined
  /** Throws a StatusError to refuse. */
  validate?(attributes: AdmissionAttributes, reads: AdmissionReads): void
}

export const defineAdmissionPlugin = (plugin: AdmissionPlugin): AdmissionPlugin => plugin

export function admit(
  plugins: readonly AdmissionPlugin[],
  attributes: AdmissionAttributes,
  reads: AdmissionReads,
): ApiObject | undefined {
  let { object } = attributes
  for (const plugin of plugins)
    object = plugin.admit === undefined ? object : plugin.admit({ ...attributes, object }, reads)
  return object
}

export function validateAdmission(
  plugins: readonly AdmissionPlugin[],
  attributes: AdmissionAttributes,
  reads: AdmissionReads,
): void {
  for (const plugin of plugins) plugin.validate?.(attributes, reads)
}
