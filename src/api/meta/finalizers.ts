// Finalizers of an object: test, add, remove.
import type { ApiObject } from './object.ts'

export const hasFinalizer = ({ metadata }: ApiObject, finalizer: string): boolean =>
  (metadata.finalizers ?? []).includes(finalizer)

export const withFinalizer = <T extends ApiObject>(object: T, finalizer: string): T =>
  withFinalizers(object, [...(object.metadata.finalizers ?? []), finalizer])

export const withoutFinalizer = <T extends ApiObject>(object: T, finalizer: string): T =>
  withFinalizers(
    object,
    (object.metadata.finalizers ?? []).filter((each) => each !== finalizer),
  )

function withFinalizers<T extends ApiObject>(object: T, finalizers: readonly string[]): T {
  const { finalizers: _, ...metadata } = object.metadata
  return { ...object, metadata: { ...metadata, ...(finalizers.length === 0 ? {} : { finalizers }) } }
}
