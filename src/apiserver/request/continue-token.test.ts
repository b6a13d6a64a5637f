import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { parseToken, writeToken } from './continue-token.ts'

const encoded = (value: unknown): string =>
  new TextEncoder()
    .encode(typeof value === 'string' ? value : JSON.stringify(value))
    .toBase64({ alphabet: 'base64url' })

test('a token is read as it was written', () => {
  for (const token of [
    { revision: 5, start: 'a/b', startMs: 7 },
    { revision: -1, start: 'c', startMs: 0 },
  ])
    deepEqual(parseToken(writeToken(token)), token)
})

test("a token of upstream's has no time", () =>
  deepEqual(parseToken(encoded({ v: 'meta.k8s.io/v1', rv: 3, start: 'a' })), { revision: 3, start: 'a', startMs: 0 }))

const version = 'meta.k8s.io/v1'
const rows: readonly (readonly [what: string, token: string, why: string])[] = [
  ['not base64', '%%', 'illegal base64 data'],
  ['not JSON', encoded('x'), "invalid character 'x' looking for beginning of value"],
  ['not an object', encoded([]), 'server does not recognize this encoded version ""'],
  ['another version', encoded({ v: 'v2' }), 'server does not recognize this encoded version "v2"'],
  ['no revision', encoded({ v: version, start: 'a' }), `incorrect encoded start resourceVersion (version ${version})`],
  ['revision 0', encoded({ v: version, rv: 0 }), `incorrect encoded start resourceVersion (version ${version})`],
  ['half a revision', encoded({ v: version, rv: 0.5 }), `incorrect encoded start resourceVersion (version ${version})`],
  ['no start', encoded({ v: version, rv: 1, start: '' }), `encoded start key empty (version ${version})`],
]

for (const [what, token, why] of rows)
  test(`an invalid token: ${what}`, () =>
    throws(() => parseToken(token), {
      message: `invalid continue token: continue key is not valid: ${why}`,
      code: 400,
    }))
