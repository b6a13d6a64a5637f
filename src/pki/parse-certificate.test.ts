import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { nodeCrypto } from '../platform/node/crypto.ts'
import { encodeName, extension } from './certificate.ts'
import * as der from './der.ts'
import { parseCertificate } from './parse-certificate.ts'
import { encodePem } from './pem.ts'

const { publicKey } = nodeCrypto.generateKey()
const algorithm = der.sequence(der.objectIdentifier('1.2.840.10045.4.3.2'))
const name = encodeName({ commonName: 'a', organizations: [] })
const utc = (text: string): Uint8Array => der.tagged(0x17, new TextEncoder().encode(text))
const generalized = (text: string): Uint8Array => der.tagged(0x18, new TextEncoder().encode(text))
const keyId = extension('2.5.29.14', false, der.octetString(Uint8Array.of(1, 2)))

interface Fields {
  readonly version?: Uint8Array
  readonly serial?: Uint8Array
  readonly inner?: Uint8Array
  readonly times?: readonly Uint8Array[]
  readonly rest?: readonly Uint8Array[]
  readonly behind?: Uint8Array
}

function certificateOf({
  version = der.explicit(0, der.integer(Uint8Array.of(2))),
  serial = der.integer(Uint8Array.of(1)),
  inner = algorithm,
  times = [utc('300101000000Z'), generalized('20500101000000Z')],
  rest = [],
  behind = new Uint8Array(),
}: Fields = {}): string {
  const body = der.sequence(version, serial, inner, name, der.sequence(...times), name, publicKey, ...rest)
  return encodePem('CERTIFICATE', der.joined([der.sequence(body, algorithm, der.bitString(Uint8Array.of(1))), behind]))
}
const withTimes = (...times: Uint8Array[]): string => certificateOf({ times })
const withExtensions = (...extensions: Uint8Array[]): string =>
  certificateOf({ rest: [der.explicit(3, der.sequence(...extensions))] })

test('the fields of a certificate', () => {
  const parsed = parseCertificate(withExtensions(keyId))
  equal(new Date(parsed.notBeforeMs).toISOString(), '2030-01-01T00:00:00.000Z')
  equal(new Date(parsed.notAfterMs).toISOString(), '2050-01-01T00:00:00.000Z')
  deepEqual(
    [parsed.subject.toHex(), parsed.publicKey.toHex(), parsed.subjectKeyId?.toHex()],
    [name.toHex(), publicKey.toHex(), '0102'],
  )
})

test('version and extensions are optional, and years of two digits end in 2049', () => {
  const parsed = parseCertificate(
    certificateOf({ version: new Uint8Array(), times: [utc('500101000000Z'), utc('491231235959Z')] }),
  )
  equal(new Date(parsed.notBeforeMs).toISOString(), '1950-01-01T00:00:00.000Z')
  equal(new Date(parsed.notAfterMs).toISOString(), '2049-12-31T23:59:59.000Z')
  equal(parsed.subjectKeyId, undefined)
})

const end = utc('310101000000Z')
const malformed: [why: string, certificate: string, error: RegExp][] = [
  ['a day that the month does not have', withTimes(utc('300230000000Z'), end), /time is malformed/],
  ['an hour 24', withTimes(utc('300101240000Z'), end), /time is malformed/],
  ['a time without seconds', withTimes(utc('3001010000Z'), end), /time is malformed/],
  ['a time with an offset', withTimes(utc('300101000000+0000'), end), /time is malformed/],
  ['a fraction of a second', withTimes(generalized('20300101000000.5Z'), end), /time is malformed/],
  ['a time that is a number', withTimes(der.integer(Uint8Array.of(1)), end), /of another type/],
  ['one time', withTimes(end), /cut off/],
  ['three times', withTimes(end, end, end), /more elements/],
  ['version 4', certificateOf({ version: der.explicit(0, der.integer(Uint8Array.of(3))) }), /unknown version/],
  ['an empty serial number', certificateOf({ serial: der.tagged(2, new Uint8Array()) }), /integer is empty/],
  ['two signature algorithms', certificateOf({ inner: der.sequence(der.objectIdentifier('1.2.3')) }), /two signature/],
  ['an extension twice', withExtensions(keyId, keyId), /there twice/],
  [
    'extensions twice',
    certificateOf({ rest: [keyId, keyId].map((each) => der.explicit(3, der.sequence(each))) }),
    /more/,
  ],
  ['an unknown field', certificateOf({ rest: [der.explicit(5, new Uint8Array())] }), /more elements/],
  ['a byte after the certificate', certificateOf({ behind: Uint8Array.of(0) }), /cut off/],
  ['an element after the certificate', certificateOf({ behind: Uint8Array.of(5, 0) }), /more elements/],
]
for (const [why, certificate, error] of malformed)
  test(`a malformed certificate is rejected: ${why}`, () => {
    throws(() => parseCertificate(certificate), error)
  })
