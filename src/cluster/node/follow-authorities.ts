// followAuthorities: a kubelet in its own process trusts the authorities that the cluster publishes when they are replaced, gets a
// certificate of the new one, and notes both in its Node.
import { context } from '../../base/observability/context.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { Clock } from '../../base/time/clock.ts'
import { backoffMs, type Backoff } from '../../base/work/work-queue.ts'
import type { Node } from '../../api/core/v1/node/node.ts'
import type { Client } from '../../client/client.ts'
import type { Informer } from '../../client/informer/informer.ts'
import { isSignedBy } from '../../pki/authority.ts'
import type { CryptoProvider } from '../../platform/crypto/crypto.ts'
import { publishedAuthorities } from '../bootstrap/cluster-info.ts'
import { authorityDigest, noteTrustedAuthority, publishedDigest, trustedDigest } from '../rotation/node-authority.ts'

const retryBackoff: Backoff = { initialMs: 2_000, maxMs: 300_000 }

export interface FollowAuthoritiesDeps {
  /** Of the node. */
  readonly client: Client
  /** Without credentials: anyone may read what the cluster publishes, and nodes have no other permission for it. */
  readonly anonymous: Client
  readonly clock: Clock
  readonly log: Log
  readonly crypto: CryptoProvider
  readonly nodeName: string
  /** Trusts the authorities (PEM), now and after a restart. */
  readonly trust: (authorities: string) => Promise<void>
  /** Requests a certificate and uses it; returns it. */
  readonly renew: (signal: AbortSignal) => Promise<string>
}

/** Runs until the signal is aborted. What fails is tried again. */
export async function followAuthorities(
  self: Pick<Informer<Node>, 'onChange'>,
  deps: FollowAuthoritiesDeps,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = deps
  let failures = 0
  let wanted: string | undefined
  let noted: string | undefined
  let changed = Promise.withResolvers<void>()
  self.onChange(({ now }) => {
    wanted = now && publishedDigest(now)
    noted = now && trustedDigest(now)
    if (wanted !== noted) changed.resolve()
  })
  while (!signal.aborted) {
    await unlessAborted(changed.promise, signal)
    changed = Promise.withResolvers()
    if (wanted === undefined || wanted === noted) continue
    try {
      await takeOver(wanted, deps, signal)
      noted = wanted
      failures = 0
    } catch (error) {
      log.warn('the authorities of the cluster were not taken over; tried again', { error: errorText(error) })
      await clock.sleep(backoffMs(retryBackoff, failures++), signal)
      changed.resolve()
    }
  }
}

async function takeOver(wanted: string, deps: FollowAuthoritiesDeps, signal: AbortSignal): Promise<void> {
  const { client, anonymous, crypto, nodeName, log } = deps
  const authorities = await publishedAuthorities(anonymous, context(signal))
  if (authorityDigest(authorities, crypto) !== wanted)
    throw new Error('the cluster publishes other authorities than those that the node should trust')
  await deps.trust(authorities)
  const certificate = await deps.renew(signal)
  if (!isSignedBy(certificate, authorities, crypto))
    throw new Error('the cluster still signs certificates with an earlier CA')
  await noteTrustedAuthority(client, nodeName, authorities, crypto, context(signal))
  log.info('the authorities of the cluster were replaced', { digest: wanted })
}
