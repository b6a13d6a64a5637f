// The discovery documents of an extension as a version of aggregated discovery.
import { lookup } from '../../base/collections/lookup.ts'
import { isJsonObject } from '../../schema/json/json-value.ts'
import type { GroupVersion } from '../kinds/kind-catalogue.ts'

type Fields = Readonly<Record<string, unknown>>

/** The version in an APIGroupDiscoveryList; undefined where it is not in it. */
export function versionInGroups(list: unknown, { group, version }: GroupVersion): object | undefined {
  const item = listIn(list, 'items').find((each) => at(at(each, 'metadata'), 'name') === group)
  const found = listIn(item, 'versions').find((each) => at(each, 'version') === version)
  if (found === undefined) return undefined
  return { version, ...unlessEmpty('resources', listIn(found, 'resources')), freshness: 'Current' }
}

/** The version as an APIResourceList describes it. Subresources are part of their resource. */
export function versionOfResources(list: unknown, { version }: GroupVersion): object | undefined {
  const resources = listIn(list, 'resources').filter(isJsonObject)
  const nameOf = (resource: Fields) => String(resource['name'] ?? '')
  const parents = resources.filter((each) => !nameOf(each).includes('/'))
  return {
    version,
    resources: parents.map((parent) => {
      const prefix = `${nameOf(parent)}/`
      const parts = resources.filter((each) => nameOf(each).startsWith(prefix))
      return {
        ...resourceOf(parent),
        ...unlessEmpty(
          'subresources',
          parts.map((part) => subresourceOf(part, prefix)),
        ),
      }
    }),
    freshness: 'Current',
  }
}

const resourceOf = (resource: Fields): object => ({
  resource: resource['name'],
  responseKind: responseKind(resource),
  scope: resource['namespaced'] === true ? 'Namespaced' : 'Cluster',
  singularResource: textIn(resource, 'singularName'),
  verbs: listIn(resource, 'verbs'),
  ...unlessEmpty('shortNames', listIn(resource, 'shortNames')),
  ...unlessEmpty('categories', listIn(resource, 'categories')),
})

const subresourceOf = (resource: Fields, prefix: string): object => ({
  subresource: textIn(resource, 'name').slice(prefix.length),
  responseKind: responseKind(resource),
  verbs: listIn(resource, 'verbs'),
})

const responseKind = (resource: Fields): object => ({
  group: textIn(resource, 'group'),
  version: textIn(resource, 'version'),
  kind: textIn(resource, 'kind'),
})

const unlessEmpty = (name: string, values: readonly unknown[]): object =>
  values.length === 0 ? {} : { [name]: values }

const at = (value: unknown, key: string): unknown => (isJsonObject(value) ? lookup(value, key) : undefined)

const listIn = (value: unknown, key: string): readonly unknown[] => {
  const found = at(value, key)
  return Array.isArray(found) ? found : []
}

const textIn = (value: Fields, key: string): string => {
  const found = lookup(value, key)
  return typeof found === 'string' ? found : ''
}
