// ServerIdentity: the Lease with which an API server shows that it runs, under upstream's name (`apiserver-<hash>` in kube-system).
// Its annotations show what the server uses. A server that stops deletes it; one that was killed leaves it, and another
// server deletes it after an hour.
import { rfc3339Micro, type Clock } from '../../base/time/clock.ts'
import { context, type Context } from '../../base/observability/context.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { newUid } from '../../base/random/ids.ts'
import type { Random } from '../../base/random/random.ts'
import { lease, type Lease } from '../../api/coordination/v1/lease.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import type { Client } from '../../client/client.ts'
import type { CryptoProvider } from '../../platform/crypto/crypto.ts'
import { createOrPatch } from './bootstrap-objects.ts'

const namespace = 'kube-system'
const identityLabel = 'apiserver.kubernetes.io/identity'
const identityValue = 'kube-apiserver'
const hostnameLabel = 'kubernetes.io/hostname'
const renewEveryMs = 10_000
const leaseSeconds = 3600
/** How often a server looks for leases of servers that have ended. */
const collectEveryMs = 600_000
const labelSelector = `${identityLabel}=${identityValue}`
/** As upstream: the first half of the digest, in base 32. */
const hashBytes = 16
const base32 = 'abcdefghijklmnopqrstuvwxyz234567'

interface ServerIdentityDeps {
  readonly client: Client
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly crypto: CryptoProvider
}

export interface ServerPlace {
  readonly hostname: string
  /** Upstream's leases differ by hostname only. Several servers of one machine differ by their addresses. */
  readonly host: string
  readonly port: number
}

export class ServerIdentity {
  readonly name: string
  readonly #deps: ServerIdentityDeps
  readonly #hostname: string
  readonly #holder: string
  #annotations: Readonly<Record<string, string>>
  #isCreated = false

  /** The annotations replace those of an earlier process. */
  constructor(
    { hostname, host, port }: ServerPlace,
    annotations: Readonly<Record<string, string>>,
    deps: ServerIdentityDeps,
  ) {
    this.#annotations = annotations
    this.#deps = deps
    this.#hostname = hostname
    this.name = `apiserver-${hashOf(`${hostname} ${host} ${port}`, deps.crypto)}`
    this.#holder = `${this.name}_${newUid(deps.random)}`
  }

  /** Renews the lease until the signal is aborted, and deletes those of servers that have ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps
    let collectAtMs = 0
    while (!signal.aborted) {
      try {
        await this.#renew(context(signal))
        if (clock.monotonicMs() >= collectAtMs) {
          await this.#collect(context(signal))
          collectAtMs = clock.monotonicMs() + collectEveryMs
        }
      } catch (error) {
        if (!signal.aborted) log.warn('the lease of the API server was not renewed', { error: errorText(error) })
      }
      await clock.sleep(renewEveryMs, signal)
    }
  }

  /** Shows the other servers at once. */
  async annotate(annotations: Readonly<Record<string, string>>, ctx: Context): Promise<void> {
    this.#annotations = { ...this.#annotations, ...annotations }
    await this.#renew(ctx)
  }

  /** Before the server stops. */
  async withdraw(signal: AbortSignal): Promise<void> {
    const leases = this.#deps.client.of(lease)
    const own = await leases.find(this.name, namespace, context(signal))
    if (own?.spec.holderIdentity !== this.#holder) return
    await leases.delete(this.name, namespace, { uid: own.metadata.uid }, context(signal))
  }

  async #renew(ctx: Context): Promise<void> {
    const labels = { [identityLabel]: identityValue, [hostnameLabel]: this.#hostname }
    const renewTime = rfc3339Micro(this.#deps.clock.nowMs())
    const spec = { holderIdentity: this.#holder, leaseDurationSeconds: leaseSeconds, renewTime }
    const metadata = { name: this.name, namespace, labels, annotations: this.#annotations }
    const { client } = this.#deps
    if (this.#isCreated) {
      const patched = client.of(lease).patch(this.name, namespace, { metadata, spec }, 'merge', ctx)
      if (await patched.then(() => true, unlessGone)) return
    }
    await createOrPatch(client, lease, { metadata, spec }, ctx)
    this.#isCreated = true
  }

  async #collect(ctx: Context): Promise<void> {
    const { client, clock, log } = this.#deps
    for (const each of await serverLeases(client, ctx)) {
      const { renewTime = '', leaseDurationSeconds = 0 } = each.spec
      if (Date.parse(renewTime) + leaseDurationSeconds * 1000 > clock.nowMs()) continue
      const { name, uid, resourceVersion } = each.metadata
      // Its server may renew it at this moment.
      const deleted = client.of(lease).delete(name, namespace, { uid, resourceVersion }, ctx)
      if (await deleted.then(() => true, unlessGone))
        log.info('the lease of an API server that has ended was deleted', { lease: name })
    }
  }
}

function unlessGone(error: unknown): false {
  if (hasReason(error, 'NotFound') || hasReason(error, 'Conflict')) return false
  throw error
}

/** Those of all API servers, also of servers that were killed within the last hour. */
export async function serverLeases(client: Client, ctx: Context): Promise<readonly Lease[]> {
  const { items } = await client.of(lease).list({ namespace, labelSelector }, ctx)
  return items
}

/** `on machine-a`, for messages. */
export const machineOf = ({ metadata: { labels = {} } }: Lease): string => labels[hostnameLabel] ?? 'unknown'

function hashOf(text: string, crypto: CryptoProvider): string {
  const bits = Array.from(crypto.sha256(text).subarray(0, hashBytes), (byte) => byte.toString(2).padStart(8, '0')).join(
    '',
  )
  return (bits.match(/.{1,5}/g) ?? []).map((digit) => base32[Number.parseInt(digit.padEnd(5, '0'), 2)]).join('')
}
