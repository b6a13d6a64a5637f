// A real HTTPS server on loopback that responds as an issuer or a webhook, correctly or hostile; and tokens to send to
// it.
import { createHmac, sign, type KeyObject } from 'node:crypto'
import { realClock } from '../../base/time/clock.ts'
import { systemRandom } from '../../base/random/random.ts'
import { Authority } from '../../pki/authority.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { nodeListeners } from '../../platform/node/http/listener.ts'
import { nodeOutbound } from '../../platform/node/http/outbound.ts'

export interface OutsideAnswer {
  readonly status?: number
  readonly value?: unknown
  /** Sent verbatim instead of `value`. */
  readonly text?: string
  /** Never responds. */
  readonly wait?: true
  /** Sends the headers immediately, but the body never ends. */
  readonly stall?: true
}

export async function serverAnswering(handle: (target: string, body: string) => OutsideAnswer) {
  const authority = Authority.create('their-ca', { clock: realClock, random: systemRandom, crypto: nodeCrypto })
  const identity = authority.issue({
    subject: { commonName: 's', organizations: [] },
    uses: ['server'],
    addresses: ['127.0.0.1'],
  })
  const asked: string[] = []
  const listener = await nodeListeners.listen({
    host: '127.0.0.1',
    port: 0,
    tls: { ...identity, clientAuthorities: {} },
    async handle(request) {
      const sent = new TextDecoder().decode(await request.body(1 << 20))
      asked.push(`${request.method} ${request.target}`)
      const { status = 200, value, text, wait, stall } = handle(request.target, sent)
      if (wait) await new Promise(() => {})
      const headers = { 'content-type': 'application/json' }
      return { status, headers, body: stall ? endless() : (text ?? JSON.stringify(value ?? {})) }
    },
  })
  const origin = `https://127.0.0.1:${listener.port}`
  const outbounds: { close(): Promise<void> }[] = []
  return {
    origin,
    asked,
    connect(at = origin, ca = authority.certificate) {
      const outbound = nodeOutbound.connect({ origin: at, tls: { authority: ca } })
      outbounds.push(outbound)
      return outbound
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(outbounds.map((outbound) => outbound.close()))
      await listener.close(0)
    },
  }
}

async function* endless(): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode('{')
  await new Promise(() => {})
}

const base64url = (value: string | Uint8Array): string =>
  (typeof value === 'string' ? new TextEncoder().encode(value) : value).toBase64({
    alphabet: 'base64url',
    omitPadding: true,
  })

const digests: Readonly<Record<string, string>> = { ES384: 'sha384', RS384: 'sha384', RS512: 'sha512' }

export const signed = (claims: object, key: KeyObject, kid: string, alg = 'RS256'): string =>
  signedText(JSON.stringify({ alg, kid }), JSON.stringify(claims), key, alg)

/** Signs any header and claims, also invalid ones. */
export function signedText(header: string, claims: string, key: KeyObject, alg = 'RS256'): string {
  const text = `${base64url(header)}.${base64url(claims)}`
  const data = new TextEncoder().encode(text)
  return `${text}.${base64url(sign(digests[alg] ?? 'sha256', data, { key, dsaEncoding: 'ieee-p1363' }))}`
}

/** Algorithm confusion: the public key as the secret of HS256. */
export function signedWithSecret(header: object, claims: object, secret: string): string {
  const text = `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(claims))}`
  return `${text}.${base64url(createHmac('sha256', secret).update(text).digest())}`
}
