// The texts of tokens with which machines join. A token pins the authorities of its cluster, so that a machine sends it to
// no other server: in k3s' form (`K10<hash of the authorities>::<id>.<secret>`), or in kubeadm's (`<id>.<secret>`) with
// hashes of public keys beside it (`sha256:<hash>`). The token of a server has a key at its end, with which the server
// decrypts the authorities. Texts of tokens never appear in error messages.
import type { CryptoProvider } from '../../platform/crypto/crypto.ts'
import { parseCertificate } from '../../pki/parse-certificate.ts'

type Hashes = Pick<CryptoProvider, 'sha256'>

export interface JoinToken {
  readonly id: string
  /** What the API server accepts: `<id>.<secret>`. */
  readonly credential: string
  /** Of the authorities as PEM, in hexadecimal digits. */
  readonly authoritiesHash: string | undefined
  /** Of the public keys of authorities, in kubeadm's form. */
  readonly keyHashes: readonly string[]
  /** With which the files of a server are encrypted, in hexadecimal digits. Undefined: no server may join with it. */
  readonly serverKey: string | undefined
}

const pinnedPattern = /^K10([0-9a-f]{64})::(.*)$/
const credentialPattern = /^([a-z0-9]{6})[.:]([a-z0-9]{16})(?:\.([0-9a-f]{64}))?$/
const keyHashPattern = /^sha256:([0-9a-f]{64})$/i
const certificatePattern = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g
/** The number of certificates of which the key is compared. */
const authoritiesMax = 100

/** Throws on a text that is no token, and on a token without a pin. */
export function parseJoinToken(text: string, keyHashTexts: readonly string[]): JoinToken {
  const [, authoritiesHash, rest = text] = pinnedPattern.exec(text) ?? []
  const [, id, secret, serverKey] = credentialPattern.exec(rest) ?? []
  if (id === undefined || secret === undefined)
    throw new Error(
      '--token has none of the forms K10<hash>::<id>.<secret> and <id>.<secret> (6 and 16 lower case letters and digits)',
    )
  const keyHashes = keyHashTexts.map((hash) => {
    const [, digits] = keyHashPattern.exec(hash) ?? []
    if (digits === undefined)
      throw new Error(
        `--discovery-token-ca-cert-hash ${JSON.stringify(hash)} has not the form sha256:<64 hexadecimal digits>`,
      )
    return `sha256:${digits.toLowerCase()}`
  })
  if (authoritiesHash === undefined && keyHashes.length === 0)
    throw new Error(
      '--token does not contain the hash of the CA; use K10<hash>::<id>.<secret>, or --discovery-token-ca-cert-hash too',
    )
  return { id, credential: `${id}.${secret}`, authoritiesHash, keyHashes, serverKey }
}

/** The form that contains the hash of the authorities. */
export const pinnedToken = (credential: string, authorities: string, crypto: Hashes): string =>
  `K10${crypto.sha256(authorities).toHex()}::${credential}`

/** The hash of the public key of the first authority, in kubeadm's form. */
export const keyHash = (authorities: string, crypto: Hashes): string =>
  `sha256:${crypto.sha256(parseCertificate(authorities).publicKey).toHex()}`

export type PinnedAuthorities =
  | { readonly kind: 'trusted'; readonly authorities: string }
  /** They are those of another cluster. */
  | { readonly kind: 'other'; readonly why: string }

/**
 * Of the authorities that a server shows, those that the token pins. Others may have been added by a server that is not of the
 * cluster, because the pinned ones are public.
 */
export function pinnedAuthorities(token: JoinToken, shown: string, crypto: Hashes): PinnedAuthorities {
  const { authoritiesHash, keyHashes } = token
  const found = crypto.sha256(shown).toHex()
  if (authoritiesHash !== undefined && found !== authoritiesHash)
    return { kind: 'other', why: `its CA has the hash ${found}, and the token is for ${authoritiesHash}` }
  if (keyHashes.length === 0) return { kind: 'trusted', authorities: shown }
  const certificates = (shown.match(certificatePattern) ?? []).slice(0, authoritiesMax)
  const hashes = certificates.map((certificate) => keyHash(certificate, crypto))
  const trusted = certificates.filter((_, index) => keyHashes.includes(hashes[index] ?? ''))
  if (trusted.length > 0) return { kind: 'trusted', authorities: trusted.map((one) => `${one}\n`).join('') }
  const why = `the public key of its CA has the hash ${hashes.join(', ')}, and none of --discovery-token-ca-cert-hash is this one`
  return { kind: 'other', why }
}

/** The id in any form of a token, or alone. Throws otherwise. */
export function tokenIdOf(text: string): string {
  const [, , rest = text] = pinnedPattern.exec(text) ?? []
  const [id] = /^[a-z0-9]{6}$/.exec(rest) ?? credentialPattern.exec(rest)?.slice(1) ?? []
  if (id === undefined) throw new Error('the operand is neither a token nor its id (6 lower case letters and digits)')
  return id
}

const serverPattern = /^https:\/\/(?:\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?$/

/** `https://<host>:<port>`, without anything that a shell or an HTTP request would interpret. Throws otherwise. */
export function joinServer(text: string, flag = '--server'): string {
  const url = URL.parse(text)
  const server = url?.pathname === '/' && url.search === '' && url.hash === '' && url.username === '' ? url.origin : ''
  if (!serverPattern.test(server))
    throw new Error(`${flag} ${JSON.stringify(text)} is not an address such as https://192.0.2.1:6443`)
  return server
}

/** A line for a shell, with which a machine becomes a server. */
export const serverJoinCommand = (server: string, token: string): string =>
  `coxswain server --join ${joinServer(server)} --token ${token} --data-dir /var/lib/coxswain`

/** A line for a shell, with which a machine becomes a node. */
export const joinCommand = (server: string, token: string): string =>
  `coxswain agent --server ${joinServer(server)} --token ${token}`
