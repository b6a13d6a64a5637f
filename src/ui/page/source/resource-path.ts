// The paths of the Kubernetes API.
import type { Resource } from './source.ts'

/** The path of a resource, of the objects in a namespace, or of one object. */
export function resourcePath({ group, version, plural, isNamespaced }: Resource, namespace = '', name = ''): string {
  const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const home = isNamespaced && namespace !== '' ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  return `${base}${home}/${plural}${name === '' ? '' : `/${encodeURIComponent(name)}`}`
}
