// What the editor begins with when an object is created.
import type { Resource } from '../source/source.ts'
import { yamlText } from './yaml-text.ts'

/** The start of an object of a kind; empty if the kind is not known. */
export function templateOf(resource: Resource | undefined, namespace: string): string {
  if (resource === undefined) return ''
  const { group, version, kind, isNamespaced } = resource
  const metadata = { name: '', ...(isNamespaced ? { namespace } : {}) }
  return yamlText({ apiVersion: group === '' ? version : `${group}/${version}`, kind, metadata })
}
