// Discovery documents of extensions as versions of aggregated discovery.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { versionInGroups, versionOfResources } from './extension-discovery.ts'

const groupVersion = { group: 'a.io', version: 'v1' }

test('a list of resources has subresources as part of their resource', () => {
  const list = {
    resources: [
      { name: 'as', singularName: 'a', namespaced: true, kind: 'A', verbs: ['get'], shortNames: ['x'] },
      { name: 'as/scale', namespaced: true, group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get'] },
      { name: 'bs', kind: 'B', verbs: 7 },
    ],
  }
  deepEqual(versionOfResources(list, groupVersion), {
    version: 'v1',
    resources: [
      {
        resource: 'as',
        responseKind: { group: '', version: '', kind: 'A' },
        scope: 'Namespaced',
        singularResource: 'a',
        verbs: ['get'],
        shortNames: ['x'],
        subresources: [
          {
            subresource: 'scale',
            responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
            verbs: ['get'],
          },
        ],
      },
      {
        resource: 'bs',
        responseKind: { group: '', version: '', kind: 'B' },
        scope: 'Cluster',
        singularResource: '',
        verbs: [],
      },
    ],
    freshness: 'Current',
  })
})

test('a version of the aggregated format is used as it is', () => {
  const list = {
    items: [{ metadata: { name: 'a.io' }, versions: [{ version: 'v1', resources: [{ resource: 'as' }] }] }],
  }
  deepEqual(versionInGroups(list, groupVersion), {
    version: 'v1',
    resources: [{ resource: 'as' }],
    freshness: 'Current',
  })
})

for (const value of [undefined, [], 'text', { items: [{}] }, { items: [{ metadata: { name: 'a.io' } }] }])
  test(`${JSON.stringify(value)} is no aggregated discovery`, () =>
    equal(versionInGroups(value, groupVersion), undefined))

test('a response that is no list has no resources', () => {
  deepEqual(versionOfResources('text', groupVersion), { version: 'v1', resources: [], freshness: 'Current' })
})
