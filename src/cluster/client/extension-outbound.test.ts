// Requests of a component to an extension, as bytes through the API server of its process.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { bareKind } from '../../api/kind/bare-kind.ts'
import { KindCatalogue } from '../../apiserver/kinds/kind-catalogue.ts'
import { userWithName, type ApiRequest } from '../../apiserver/request/request.ts'
import type { ApiServer } from '../../apiserver/server.ts'
import type { WireResponse } from '../../platform/http/listener.ts'
import { extensionOutbound } from './extension-outbound.ts'

const flowers = bareKind({
  group: 'garden.example.com',
  version: 'v1',
  kind: 'Flower',
  plural: 'flowers',
  singular: 'flower',
  namespaced: true,
})
const credentials = { kind: 'asserted', user: userWithName('tester') } as const
const identity = { credentials, sender: 'tester', agent: 'tester' }
const { signal } = new AbortController()
const target = '/apis/garden.example.com/v1/flowers'
const utf8 = new TextEncoder()

/** An API server with one extension, and the requests that it got. */
function serverOf(answer: object) {
  const requests: ApiRequest[] = []
  const server = {
    catalogue: new KindCatalogue(),
    extensions: { at: (group: string) => (group === flowers.group ? { resource: () => flowers } : undefined) },
    handle: (request: ApiRequest) => {
      requests.push(request)
      return answer
    },
  }
  return { outbound: extensionOutbound(() => server as unknown as ApiServer, identity), requests }
}

const wire = (body: WireResponse['body'] | AsyncIterable<string | Uint8Array>) => ({
  kind: 'wire',
  response: { status: 200, headers: { 'content-type': 'text/plain', warning: ['a', 'b'] }, body },
})

async function* pieces() {
  yield 'a'
  yield utf8.encode('b')
}

const bodies: readonly (readonly [what: string, answer: object])[] = [
  ['text', wire('ab')],
  ['bytes', wire(utf8.encode('ab'))],
  ['a stream', wire(pieces())],
]

for (const [what, answer] of bodies)
  test(`a response of an extension with ${what}`, async () => {
    const { outbound } = serverOf(answer)
    const { status, headers, body } = await outbound.send({ method: 'GET', target, headers: {} }, signal)
    equal(status, 200)
    equal(headers['content-type'], 'text/plain')
    equal(Buffer.concat(await Array.fromAsync(body)).toString(), 'ab')
  })

test('the body, the headers and the query of a request are forwarded', async () => {
  const { outbound, requests } = serverOf(wire(''))
  const headers = { accept: 'application/json' }
  await outbound.send({ method: 'POST', target: `${target}?dryRun=All`, headers, body: 'x' }, signal)
  await outbound.send({ method: 'PUT', target, headers, body: utf8.encode('y') }, signal)
  await outbound.close()
  deepEqual(
    requests.map(({ proxied, query }) => [
      proxied?.method,
      proxied?.headers['accept'],
      new TextDecoder().decode(proxied?.body),
      query.get('dryRun'),
    ]),
    [
      ['POST', 'application/json', 'x', 'All'],
      ['PUT', 'application/json', 'y', null],
    ],
  )
})

test('what no extension serves is not found', async () => {
  const { outbound } = serverOf(wire(''))
  await rejects(outbound.send({ method: 'GET', target: '/apis/apps/v1/deployments', headers: {} }, signal), {
    code: 404,
  })
  const other = serverOf({ kind: 'json', status: 200, value: {} })
  await rejects(other.outbound.send({ method: 'GET', target, headers: {} }, signal), { code: 404 })
})
