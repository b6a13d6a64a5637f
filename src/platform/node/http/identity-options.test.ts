import { deepEqual, equal } from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import type { PeerCertificate } from 'node:tls'
import { suite, test } from 'node:test'
import { systemRandom } from '../../../base/random/random.ts'
import { realClock } from '../../../base/time/clock.ts'
import { Authority } from '../../../pki/authority.ts'
import type { AlternativeName } from '../../http/server-identity.ts'
import { nodePlatform } from '../platform.ts'
import { identityOptions } from './identity-options.ts'

const authority = Authority.create('test', { clock: realClock, random: systemRandom, crypto: nodePlatform.crypto })
const { certificate } = authority.issue({
  subject: { commonName: 'common.example.com', organizations: [] },
  uses: ['server'],
  dnsNames: ['web.example.com', '*.wild.example.com'],
  addresses: ['192.0.2.1'],
})
const { raw } = new X509Certificate(certificate)
const dns = (name: string): AlternativeName => ({ kind: 'dns', name })

const cases: readonly (readonly [name: string, names: readonly AlternativeName[], isValid: boolean])[] = [
  ['its name', [dns('web.example.com')], true],
  ['its name in capitals', [dns('WEB.example.com')], true],
  ['one of several names', [dns('x.com'), dns('web.example.com')], true],
  ['a name of its wildcard', [dns('a.wild.example.com')], true],
  ['its wildcard', [dns('*.wild.example.com')], true],
  ['a wildcard of its name', [dns('*.example.com')], true],
  ['another wildcard', [dns('*.web.example.com')], false],
  ['another name', [dns('x.com')], false],
  ['its common name', [dns('common.example.com')], false],
  ['its address', [dns('192.0.2.1')], false],
  ['a URI', [{ kind: 'uri', uri: 'spiffe://example.com/web' }], false],
  ['no name', [], false],
]

suite('a certificate is accepted for', () => {
  for (const [name, names, isValid] of cases)
    test(name, () => {
      const options = identityOptions({ id: '1', authority: 'authority', serverName: 'sent', names })
      deepEqual([options.ca, options.servername], ['authority', 'sent'])
      equal(options.checkServerIdentity?.('sent', { raw } as PeerCertificate) === undefined, isValid)
    })

  test('the message names what the certificate has and what was wanted', () => {
    const options = identityOptions({ id: '1', authority: '', serverName: 'sent', names: [dns('x.com')] })
    equal(
      options.checkServerIdentity?.('sent', { raw } as PeerCertificate)?.message,
      'the certificate of the server is valid for DNS:web.example.com, DNS:*.wild.example.com, IP Address:192.0.2.1, not for x.com',
    )
  })
})
