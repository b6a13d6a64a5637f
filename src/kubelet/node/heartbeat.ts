// The heartbeat of a node: its Lease is renewed every ten seconds, its status every five minutes, or when another client has
// changed its amounts of resources.
import { rfc3339Micro } from '../../base/time/clock.ts'
import { context, type Context } from '../../base/observability/context.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { lease } from '../../api/coordination/v1/lease.ts'
import { node, type Node } from '../../api/core/v1/node/node.ts'
import { controllerReference } from '../../api/meta/object.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import { registerNode, type RegistrationDeps } from './node-registration.ts'
import { hasCurrentAmounts } from './node-status.ts'

const leaseNamespace = 'kube-node-lease'
const leaseDurationSeconds = 40
const renewMs = 10_000
const statusMs = 300_000
const retryMs = 200

export interface HeartbeatDeps extends RegistrationDeps {
  readonly log: Log
}

/** Registers the node and renews its lease until the signal is aborted. */
export async function runHeartbeat(deps: HeartbeatDeps, signal: AbortSignal): Promise<void> {
  const { clock } = deps
  const ctx = context(signal)
  const self = await retry(deps, 'register the node', signal, () => registerNode(deps, ctx))
  let nextStatusMs = clock.monotonicMs() + statusMs
  let renewOnce = () => createLease(deps, self, ctx)
  for (let renewedMs = clock.monotonicMs(); ; renewedMs = clock.monotonicMs()) {
    await retry(deps, 'renew the lease', signal, renewOnce)
    renewOnce = () => renewLease(deps, ctx)
    // After a gap of a whole lease duration the node may have been marked unknown, so its status is reported
    // immediately.
    if (clock.monotonicMs() - renewedMs >= leaseDurationSeconds * 1000) nextStatusMs = 0
    else await clock.sleep(renewMs, signal)
    if (clock.monotonicMs() < nextStatusMs && (await hasCurrentStatus(deps, ctx))) continue
    nextStatusMs = clock.monotonicMs() + statusMs
    await retry(deps, 'report the node', signal, () => registerNode(deps, ctx))
  }
}

/** A status that cannot be read is reported at its time. */
async function hasCurrentStatus({ client, description }: HeartbeatDeps, ctx: Context): Promise<boolean> {
  const found = await client
    .of(node)
    .find(description.name, '', ctx)
    .catch(() => undefined)
  return found === undefined || hasCurrentAmounts(description, found.status)
}

/** Retries until it succeeds. */
async function retry<T>(
  { clock, log, description }: HeartbeatDeps,
  what: string,
  signal: AbortSignal,
  action: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await action()
    } catch (error) {
      signal.throwIfAborted()
      log.debug(`could not ${what}`, { node: description.name, error: errorText(error) })
      await clock.sleep(retryMs, signal)
    }
  }
}

/** Creates the lease of a new node, or renews the existing one. */
async function createLease(deps: HeartbeatDeps, owner: Node | undefined, ctx: Context): Promise<void> {
  const { client, clock, description } = deps
  const { name } = description
  const ownerReferences =
    owner === undefined ? [] : [{ ...controllerReference(owner), controller: false, blockOwnerDeletion: false }]
  try {
    const newLease = { metadata: { name, ownerReferences }, ...leaseSpec(name, clock.nowMs()) }
    await client.of(lease).create(newLease, leaseNamespace, ctx)
  } catch (error) {
    if (!hasReason(error, 'AlreadyExists')) throw error
    await renewLease(deps, ctx)
  }
}

async function renewLease(deps: HeartbeatDeps, ctx: Context): Promise<void> {
  const { client, clock, description } = deps
  const { name } = description
  try {
    await client.of(lease).patch(name, leaseNamespace, leaseSpec(name, clock.nowMs()), 'merge', ctx)
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
    await createLease(deps, await client.of(node).find(name, '', ctx), ctx)
  }
}

const leaseSpec = (holderIdentity: string, nowMs: number) => ({
  spec: { holderIdentity, leaseDurationSeconds, renewTime: rfc3339Micro(nowMs) },
})
