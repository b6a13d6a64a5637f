// Which requests an extension serves, and the targets for their authorization.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { bareKind } from '../../api/kind/bare-kind.ts'
import { KindCatalogue } from '../kinds/kind-catalogue.ts'
import { noExtensions, type Extension } from '../request/extension.ts'
import { requestTargetOf } from './request-target.ts'

const group = 'garden.example.com'
const version = 'v1'
const extension = {
  name: 'v1.garden.example.com',
  resource: (plural: string, namespaced: boolean) =>
    bareKind({ group, version, kind: plural, plural, singular: plural, namespaced }),
} as unknown as Extension
const routes = {
  catalogue: new KindCatalogue(),
  extensions: { at: (...[g, v]: readonly string[]) => (g === group && v === version ? extension : undefined) },
}

const rows: readonly (readonly [path: string, isExtension: boolean, target: readonly unknown[]])[] = [
  ['/apis/garden.example.com/v1', true, ['path', 'get']],
  ['/openapi/v3/apis/garden.example.com/v1', true, ['path', 'get']],
  ['/openapi/v3/api/v1', false, ['path', 'get']],
  ['/apis/garden.example.com', false, ['path', 'get']],
  ['/apis/garden.example.com/v1/flowers', true, ['resource', 'list', 'flowers', '', undefined]],
  [
    '/apis/garden.example.com/v1/namespaces/n/flowers/a/status',
    true,
    ['resource', 'get', 'flowers', 'status', undefined],
  ],
  ['/apis/garden.example.com/v1/watch/flowers', true, ['resource', 'watch', 'flowers', '', true]],
  ['/apis/apps/v1/deployments', false, ['resource', 'list', 'deployments', '', undefined]],
]

for (const [path, isExtension, expected] of rows)
  test(`the target of ${path}`, () => {
    const routed = requestTargetOf('GET', path, new URLSearchParams(), '', routes)
    const { target } = routed
    const more = target.kind === 'path' ? [] : [target.resource.plural, target.subresource, target.hasVerbInPath]
    deepEqual([target.kind, target.verb, ...more], expected)
    deepEqual(routed.extension, isExtension ? extension : undefined)
  })

test('a resource that only another API server has leads to that server', () => {
  const peer = { ...extension, peer: 'https://192.0.2.1:6443' }
  const peers = {
    at: (g: string, v: string, plural: string) => (`${g}/${v}/${plural}` === 'apps/v1/newsets' ? peer : undefined),
    failed() {},
  }
  const routed = (path: string) =>
    requestTargetOf('GET', path, new URLSearchParams(), '', {
      catalogue: routes.catalogue,
      extensions: noExtensions,
      peers,
    })
  deepEqual(routed('/apis/apps/v1/namespaces/n/newsets/a').extension, peer)
  for (const own of [
    '/apis/apps/v1/deployments',
    '/apis/apps/v1/others',
    '/apis/apps/v2/newsets',
    '//apis/apps/v1/newsets',
  ])
    deepEqual(routed(own).extension, undefined, own)
})
