import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../base/random/random.ts'
import { openBundle, sealBundle, serverKeyBytes, type ServerBundle } from './server-bundle.ts'

const random = seededRandom(1)
const key = random.bytes(serverKeyBytes)
const bundle: ServerBundle = {
  files: { 'ca.crt': 'certificate', 'ca.key': 'secret key' },
  settings: { 'cluster-cidr': '10.1.0.0/16' },
  store: { kind: 'managed', endpoints: ['https://192.0.2.1:2379'] },
}

test('the holder of the key gets what was sealed; no other key opens it', () => {
  const sealed = sealBundle(bundle, 'abcdef', key, random)
  deepEqual(openBundle(sealed, 'abcdef', key), bundle)
  equal(Buffer.from(sealed).includes('secret key'), false)
  const wrong = /the key in the token abcdef is wrong, or the authorities were changed/
  throws(() => openBundle(sealed, 'abcdef', random.bytes(serverKeyBytes)), wrong)
  for (const at of [0, 20, sealed.length - 1]) {
    const changed = Uint8Array.from(sealed)
    changed[at] = (changed[at] ?? 0) ^ 1
    throws(() => openBundle(changed, 'abcdef', key), wrong)
  }
  throws(() => openBundle(new Uint8Array(), 'abcdef', key), wrong)
  // It cannot be moved to another token.
  throws(() => openBundle(sealed, 'fedcba', key), /the key in the token fedcba is wrong/)
})

const malformed: readonly [name: string, value: unknown][] = [
  ['nothing', null],
  ['files that are no texts', { ...bundle, files: { 'ca.crt': 1 } }],
  ['too many files', { ...bundle, files: Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`${at}`, ''])) }],
  ['no settings', { ...bundle, settings: undefined }],
  ['an unknown store', { ...bundle, store: { kind: 'other', endpoints: ['https://192.0.2.1:2379'] } }],
  ['no endpoints', { ...bundle, store: { kind: 'managed', endpoints: [] } }],
  ['an endpoint that is no URL', { ...bundle, store: { kind: 'managed', endpoints: ['--data-dir=/'] } }],
]
for (const [name, value] of malformed)
  test(`sealed contents of another form are rejected: ${name}`, () => {
    const sealed = sealBundle(value as ServerBundle, 'abcdef', key, random)
    throws(() => openBundle(sealed, 'abcdef', key), /are those of a newer coxswain/)
  })
