// Requests a certificate with a CertificateSigningRequest and waits until it is approved and signed.
import type { Clock } from '../../base/time/clock.ts'
import { context } from '../../base/observability/context.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Random } from '../../base/random/random.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import {
  certificateSigningRequest,
  type CertificateSigningRequest,
} from '../../api/certificates/v1/certificate-signing-request.ts'
import { ignoring } from '../../api/errors/status-error.ts'
import type { Client } from '../../client/client.ts'
import { Informer } from '../../client/informer/informer.ts'
import { certificateRequestPem } from '../../pki/certificate-request.ts'
import { base64Text } from '../../pki/pem.ts'
import type { CryptoProvider, KeyPair } from '../../platform/crypto/crypto.ts'

export interface SigningDeps {
  readonly client: Client
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly crypto: Pick<CryptoProvider, 'generateKey' | 'loadKey' | 'sha256'>
}

/** The certificates that a kubelet requests. */
export type CertificateTemplate =
  | { readonly use: 'client'; readonly nodeName: string }
  | { readonly use: 'serving'; readonly nodeName: string; readonly addresses: readonly string[] }

const signers = {
  client: { signerName: 'kubernetes.io/kube-apiserver-client-kubelet', usages: ['digital signature', 'client auth'] },
  serving: { signerName: 'kubernetes.io/kubelet-serving', usages: ['digital signature', 'server auth'] },
} as const

/** As upstream: a request that was not answered within this time is abandoned and made again. */
const waitMsMax = 900_000

/** Returns the certificate as PEM. Throws when the request is denied, fails, or is not approved in time. */
export async function requestCertificate(
  template: CertificateTemplate,
  key: KeyPair,
  deps: SigningDeps,
  signal: AbortSignal,
): Promise<string> {
  const { clock, log, client, crypto } = deps
  const requests = client.of(certificateSigningRequest)
  const { signerName, usages } = signers[template.use]
  const { nodeName } = template
  const names = template.use === 'serving' ? { dnsNames: [nodeName], addresses: template.addresses } : {}
  const subject = { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'] }
  const spec = {
    request: base64Text(certificateRequestPem({ subject, ...names }, key)),
    signerName,
    usages: [...usages],
  }
  // The name is derived from the key: a kubelet that restarts with the same key finds its earlier request.
  const digest = crypto.sha256(`${signerName} ${key.publicKey.toBase64()}`)
  const name = `node-csr-${digest.toBase64({ alphabet: 'base64url', omitPadding: true })}`
  await requests.create({ metadata: { name }, spec }, '', context(signal)).catch(ignoring('AlreadyExists'))
  log.info('a certificate was requested', { request: name, signer: signerName })
  const late = new AbortController()
  const timer = clock.after(waitMsMax, () =>
    late.abort(new Error(`the certificate signing request ${name} was not approved in time`)),
  )
  try {
    return await issued(name, deps, AbortSignal.any([signal, late.signal]))
  } finally {
    timer.cancel()
    late.abort()
  }
}

async function issued(name: string, { client, clock, random, log }: SigningDeps, signal: AbortSignal): Promise<string> {
  const outcome = Promise.withResolvers<string>()
  const requests = client.of(certificateSigningRequest)
  const informer = new Informer(
    certificateSigningRequest,
    requests,
    { clock, random, log },
    { fieldSelector: `metadata.name=${name}` },
  )
  informer.onChange(({ now }) => {
    const { certificate, conditions = [] } = now?.status ?? {}
    const refused = conditions.find(({ type }) => type === 'Denied' || type === 'Failed')
    if (refused !== undefined) outcome.reject(new Error(failureText(name, refused)))
    if (certificate !== undefined && certificate !== '') outcome.resolve(atob(certificate))
  })
  const ended = new AbortController()
  const running = informer.run(AbortSignal.any([signal, ended.signal]))
  running.catch(() => {}) // ended below
  try {
    return await unlessAborted(outcome.promise, signal)
  } finally {
    ended.abort()
  }
}

type Condition = NonNullable<CertificateSigningRequest['status']['conditions']>[number]

/** Same message as upstream. */
const failureText = (name: string, { type, reason = '', message = '' }: Condition): string =>
  `certificate signing request ${name} ${type === 'Denied' ? 'is denied' : 'failed'}, reason: ${reason}, message: ${message}`
