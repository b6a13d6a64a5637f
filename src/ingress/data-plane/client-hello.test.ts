import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { concatBytes } from '../../base/collections/concat-bytes.ts'
import { seededRandom } from '../../base/random/random.ts'
import { clientHelloBytesMax, parseClientHello } from './client-hello.ts'
import { clientHelloOf, handshakeOf, inRecords, serverNames } from './client-hello.harness.ts'

const outcome = (bytes: Uint8Array): string => {
  const hello = parseClientHello(bytes)
  return hello.kind === 'complete' ? `name ${hello.serverName}` : hello.kind
}

const whole = clientHelloOf('a.example.com')
const changed = (at: number, value: number): Uint8Array => whole.map((byte, index) => (index === at ? value : byte))

/** Where the length of the extensions is: after the headers, the version, the random bytes, and three other fields. */
const extensionsAt = 5 + 4 + 34 + 33 + 4 + 2

const cases: readonly (readonly [name: string, bytes: Uint8Array, expected: string])[] = [
  ['a name', whole, 'name a.example.com'],
  ['a name in capitals', clientHelloOf('A.Example.COM'), 'name a.example.com'],
  ['early data after the message', concatBytes([whole, Uint8Array.of(23, 3, 3, 0, 1, 0)]), 'name a.example.com'],
  ['other data before the message', concatBytes([Uint8Array.of(23, 3, 3, 0, 1, 0), whole]), 'invalid'],
  ['a second record of a handshake', concatBytes([whole, whole]), 'name a.example.com'],
  ['several records', inRecords(handshakeOf(serverNames('a.example.com')), 20), 'name a.example.com'],
  ['more records than the limit', inRecords(handshakeOf(serverNames('a.example.com')), 4), 'invalid'],
  ['no name', inRecords(handshakeOf(undefined)), 'name '],
  ['no extensions', inRecords(handshakeOf(undefined, false)), 'name '],
  ['a name of another type', inRecords(handshakeOf(serverNames('a', 1))), 'invalid'],
  ['an empty name', clientHelloOf(''), 'invalid'],
  ['a name with a slash', clientHelloOf('a/b'), 'invalid'],
  ['a name with a line break', clientHelloOf('a\nb'), 'invalid'],
  ['a name that is too long', clientHelloOf('a'.repeat(254)), 'invalid'],
  ['names that are longer than the extension', inRecords(handshakeOf(Uint8Array.of(0, 9, 0))), 'invalid'],
  ['HTTP', new TextEncoder().encode('GET / HTTP/1.1\r\n'), 'invalid'],
  ['another version', changed(1, 2), 'invalid'],
  ['an empty record', Uint8Array.of(22, 3, 1, 0, 0), 'invalid'],
  ['a record that is too long', Uint8Array.of(22, 3, 1, 0x41, 0), 'invalid'],
  ['another message', changed(5, 2), 'invalid'],
  ['a message that is too long', changed(6, 1), 'invalid'],
  ['extensions that are longer than the message', changed(extensionsAt, 0xff), 'invalid'],
  ['nothing', new Uint8Array(), 'incomplete'],
]

suite('parseClientHello', () => {
  for (const [name, bytes, expected] of cases) test(name, () => equal(outcome(bytes), expected))

  test('every beginning is incomplete', () => {
    for (const bytes of [whole, inRecords(handshakeOf(serverNames('a.example.com')), 20)])
      for (let length = 0; length < bytes.length; length++)
        equal(outcome(bytes.subarray(0, length)), 'incomplete', String(length))
  })

  test('more bytes than the limit are not waited for', () => {
    const record = concatBytes([Uint8Array.of(22, 3, 1, 0x40, 0, 1, 0, 0x7f, 0xff), new Uint8Array(16_380)])
    const bytes = concatBytes([record, record, record, record, record])
    deepEqual([bytes.length > 2 * clientHelloBytesMax, outcome(bytes)], [true, 'invalid'])
  })

  test('any change of any byte is handled', () => {
    const random = seededRandom(7)
    for (let at = 0; at < whole.length; at++)
      for (let round = 0; round < 4; round++) {
        const text = outcome(changed(at, random.below(256)))
        equal(/^(?:name [-\w.]*|invalid|incomplete)$/.test(text), true, text)
      }
  })
})
