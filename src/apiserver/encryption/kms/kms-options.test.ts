// The `kms` section of an EncryptionConfiguration: valid options, and the messages for invalid ones.
import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigReader } from '../../config/config-reader.ts'
import { kmsOptions } from './kms-options.ts'

const section = { apiVersion: 'v2', name: 'fake', endpoint: 'unix:///run/kms.sock' }
const read = (changes: object, names: string[] = []) =>
  kmsOptions(new ConfigReader({ ...section, ...changes }, 'kms'), new Set(names))

test('a section is parsed, with a default timeout of three seconds', () => {
  deepEqual(read({}), { name: 'fake', endpoint: 'unix:/run/kms.sock', timeoutMs: 3_000 })
  deepEqual(read({ timeout: '500ms' }).timeoutMs, 500)
})

const refused: [what: string, changes: object, message: RegExp][] = [
  ['v1', { apiVersion: undefined }, /kms.apiVersion .*KMSv1 is deprecated .* Use KMSv2 instead/],
  ['another version', { apiVersion: 'v3' }, /unsupported apiVersion v3 for KMS provider/],
  ['no name', { name: undefined }, /kms.name is required: name is a mandatory field for a provider/],
  ['a colon in the name', { name: 'a:b' }, /invalid KMS provider name a:b, must not contain ':'/],
  ['a duplicate name', { name: 'other' }, /duplicate KMS provider name other, names must be unique/],
  ['no endpoint', { endpoint: undefined }, /endpoint is a mandatory field for a kms/],
  ['another scheme', { endpoint: 'http://x/y' }, /unsupported scheme "http" for KMS provider, only unix is supported/],
  ['no scheme', { endpoint: 'kms.sock' }, /unsupported scheme "" for KMS provider, only unix is supported/],
  ['a relative path', { endpoint: 'unix://kms.sock' }, /must be absolute/],
  ['an abstract socket', { endpoint: 'unix:///@kms' }, /abstract namespace/],
  ['a timeout of zero', { timeout: '0s' }, /timeout should be a positive value/],
  ['a long timeout', { timeout: '2m' }, /must not exceed 60s/],
  ['the cache of v1', { cachesize: 10 }, /kms.cachesize is not a known field/],
]
for (const [what, changes, message] of refused)
  test(`${what} is refused`, () => throws(() => read(changes, ['other']), message))
