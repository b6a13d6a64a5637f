// For what the certificate of a client is trusted, whatever other certificates the client shows beside it.
import { deepEqual } from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { realClock } from '../../../base/time/clock.ts'
import { systemRandom } from '../../../base/random/random.ts'
import { Authority, type Identity } from '../../../pki/authority.ts'
import { keyIdOf, signCertificate } from '../../../pki/certificate.ts'
import { parseCertificate } from '../../../pki/parse-certificate.ts'
import type { ClientAuthority } from '../../http/listener.ts'
import { nodeCrypto } from '../crypto.ts'
import { clientCertificate, rootsOf } from './client-certificate.ts'
import { createTlsServer } from './tls-server.ts'

const deps = { clock: realClock, random: systemRandom, crypto: nodeCrypto }
const authorityNamed = (name: string) => Authority.create(name, deps)
const users = authorityNamed('users')
const proxies = authorityNamed('proxies')
const earlier = authorityNamed('earlier')
const stranger = authorityNamed('stranger')
const serving = users.issue({ subject: { commonName: 'server', organizations: [] }, uses: ['server'] })

const clientOf = (authority: Authority): Identity =>
  authority.issue({ subject: { commonName: 'jane', organizations: [] }, uses: ['client'] })

/** A certificate with the name and key of one authority that claims to be signed by another one. */
function forged(of: Authority, by: Authority): string {
  const [theirs, issuer] = [parseCertificate(of.certificate), parseCertificate(by.certificate)]
  const { notBeforeMs, notAfterMs, subject: name, publicKey } = theirs
  return signCertificate(
    {
      name,
      isAuthority: true,
      usages: ['cert sign'],
      altNames: { dnsNames: [], addresses: [], emails: [], uris: [] },
      publicKey,
      notBeforeMs,
      notAfterMs,
    },
    { name: issuer.subject, keyId: keyIdOf(issuer.publicKey, nodeCrypto), key: nodeCrypto.generateKey() },
    systemRandom,
    nodeCrypto,
  )
}

type Trust = Readonly<Partial<Record<ClientAuthority, string>>>

async function trustedFor(trust: Trust, { certificate, key }: Identity): Promise<readonly string[] | undefined> {
  const tls = { ...serving, clientAuthorities: trust }
  const seen = Promise.withResolvers<readonly string[] | undefined>()
  const server = createTlsServer(tls, () => undefined)
  server.on('secureConnection', (socket: TLSSocket) => {
    seen.resolve(clientCertificate(socket, rootsOf(tls))?.trustedFor)
    socket.end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const socket = connect({ host: '127.0.0.1', port, cert: certificate, key, rejectUnauthorized: false })
  socket.on('error', () => {})
  const found = await seen.promise
  socket.destroy()
  await once(server.close(), 'close')
  return found
}

const both: Trust = { users: users.certificate, proxies: proxies.certificate }
const shown = ({ certificate, key }: Identity, ...others: readonly string[]): Identity => ({
  certificate: [certificate, ...others].join(''),
  key,
})

const rows: readonly [name: string, trust: Trust, identity: Identity, expected: readonly ClientAuthority[]][] = [
  ['of users', both, clientOf(users), ['users']],
  ['of proxies', both, clientOf(proxies), ['proxies']],
  ['of another authority', both, clientOf(stranger), []],
  ['of users, with the root', both, shown(clientOf(users), users.certificate), ['users']],
  [
    'of an authority of both',
    { users: users.certificate, proxies: users.certificate },
    clientOf(users),
    ['users', 'proxies'],
  ],
  ['of users, which an earlier authority signs', both, shown(clientOf(users), earlier.crossSign(users)), ['users']],
  [
    'of users, where only the earlier authority is trusted',
    { users: earlier.certificate, proxies: proxies.certificate },
    shown(clientOf(users), earlier.crossSign(users)),
    ['users'],
  ],
  [
    'of users, with a forged path to proxies',
    both,
    shown(clientOf(users), forged(users, proxies), proxies.certificate),
    ['users'],
  ],
  [
    'of proxies, with a forged path to users',
    both,
    shown(clientOf(proxies), forged(proxies, users), users.certificate),
    ['proxies'],
  ],
  [
    'of another authority, with a forged path to users',
    both,
    shown(clientOf(stranger), forged(stranger, users), users.certificate),
    [],
  ],
]
for (const [name, trust, identity, expected] of rows)
  test(`a certificate ${name} is trusted for ${expected.join(' and ') || 'nothing'}`, async () =>
    deepEqual(await trustedFor(trust, identity), expected))
