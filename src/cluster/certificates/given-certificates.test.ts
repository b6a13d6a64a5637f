import { deepEqual, equal, rejects } from 'node:assert/strict'
import { createPublicKey } from 'node:crypto'
import { test } from 'node:test'
import { systemRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { Authority } from '../../pki/authority.ts'
import type { Files } from '../../platform/files.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { temporaryCertificates } from './cluster-certificates.ts'
import { readGivenCertificates, withGiven, type CertificateFiles } from './given-certificates.ts'

const clock = new VirtualClock()
const authority = Authority.create('ca', { clock, random: systemRandom, crypto: nodeCrypto })
const pair = (commonName: string) => authority.issue({ subject: { commonName, organizations: [] }, uses: ['client'] })
const [one, other] = [pair('one'), pair('other')]
const publicPem = (key: string) => createPublicKey(key).export({ type: 'spki', format: 'pem' })
const contents = new Map(
  Object.entries({
    'ca.crt': authority.certificate,
    'one.crt': one.certificate,
    'one.key': one.key,
    'other.key': other.key,
    'keys.pem': `${publicPem(one.key)}\n${other.certificate}`,
    text: 'hello',
    'broken.pem': '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n',
  }),
)
const files = {
  read: (path: string) => Promise.resolve(new TextEncoder().encode(contents.get(path))),
} as unknown as Files
const read = (flags: CertificateFiles) => readGivenCertificates(flags, files, nodeCrypto)
const keyOf = ({ key }: { readonly key: string }) => nodeCrypto.loadKey(key).publicKey

test('without files everything is what the cluster creates', async () => {
  const own = temporaryCertificates({ platform: nodePlatform, clock, random: systemRandom, hosts: [] })
  equal(withGiven(own, undefined), own)
  deepEqual(withGiven(own, await read({})), own)
})

test('files replace what the cluster creates', async () => {
  const own = temporaryCertificates({ platform: nodePlatform, clock, random: systemRandom, hosts: [] })
  const given = await read({
    'client-ca-file': 'ca.crt',
    'tls-cert-file': 'one.crt',
    'tls-private-key-file': 'one.key',
    'kubelet-client-certificate': 'one.crt',
    'kubelet-client-key': 'one.key',
    'service-account-signing-key-file': 'other.key',
    'service-account-key-file': 'keys.pem,one.key',
  })
  const certificates = withGiven(own, given)
  equal(certificates.authority, authority.certificate)
  deepEqual(certificates.serving, one)
  deepEqual(certificates.components['apiserver-kubelet-client'], one)
  deepEqual(certificates.accountKey.publicKey, keyOf(other))
  deepEqual(
    given.accountKeys.map(({ publicKey }) => publicKey),
    [keyOf(one), keyOf(other), keyOf(one)],
  )
  equal(certificates.proxyAuthority, own.proxyAuthority)
})

const errors: readonly [flags: CertificateFiles, message: RegExp][] = [
  [{ 'client-ca-file': 'text' }, /^Error: --client-ca-file text holds no certificate in PEM$/],
  [{ 'tls-cert-file': 'one.crt' }, /^Error: --tls-cert-file and --tls-private-key-file must be set together$/],
  [
    { 'tls-cert-file': 'one.crt', 'tls-private-key-file': 'other.key' },
    /^Error: --tls-private-key-file other\.key is not the key of --tls-cert-file one\.crt$/,
  ],
  [
    { 'kubelet-client-certificate': 'text', 'kubelet-client-key': 'one.key' },
    /^Error: --kubelet-client-certificate text holds no certificate in PEM$/,
  ],
  [
    { 'service-account-signing-key-file': 'one.crt' },
    /^Error: --service-account-signing-key-file one\.crt holds no private key in PEM$/,
  ],
  [
    { 'service-account-key-file': 'one.key,text' },
    /^Error: --service-account-key-file text holds no key or certificate in PEM$/,
  ],
  [
    { 'service-account-key-file': 'broken.pem' },
    /^Error: --service-account-key-file broken\.pem holds a key that cannot be read$/,
  ],
]
for (const [flags, message] of errors) test(`rejected: ${JSON.stringify(flags)}`, () => rejects(read(flags), message))
