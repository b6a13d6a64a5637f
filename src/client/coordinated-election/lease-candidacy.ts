// LeaseCandidacy: the LeaseCandidate with which this process stands for a Lease in coordinated leader election. It responds
// when the API server asks whether the process still runs.
import type { TaskGroup } from '../../base/async/task-group.ts'
import { context, type Context } from '../../base/observability/context.ts'
import { rfc3339Micro } from '../../base/time/clock.ts'
import { oldestEmulationVersion } from '../../api/coordination/lease-strategy.ts'
import { leaseCandidate } from '../../api/coordination/v1beta1/lease-candidate.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import type { Client } from '../client.ts'
import { Informer, type InformerDeps } from '../informer/informer.ts'
import { Reconciler } from '../reconcile/reconciler.ts'
import { candidacyMsMax, isAsked } from './election-step.ts'

/** Also without a question, so that a candidate that was deleted exists again. */
const renewEveryMs = 5 * 60_000

export interface ProgramVersions {
  /** `1.36.4`. */
  readonly binaryVersion: string
  readonly emulationVersion: string
}

export interface LeaseCandidacyDeps extends InformerDeps {
  readonly client: Client
  readonly identity: string
  readonly leaseName: string
  readonly namespace: string
  readonly versions: ProgramVersions
}

export class LeaseCandidacy {
  readonly #deps: LeaseCandidacyDeps

  constructor(deps: LeaseCandidacyDeps) {
    this.#deps = deps
  }

  /** Stands until the tasks stop. */
  start(tasks: TaskGroup): void {
    const { client, identity, namespace } = this.#deps
    const own = { namespace, fieldSelector: `metadata.name=${identity}` }
    const informer = new Informer(leaseCandidate, client.of(leaseCandidate), this.#deps, own)
    const reconciler = new Reconciler({ name: 'lease-candidate', workers: 1 }, this.#deps)
    informer.onChange(({ now }) => {
      if (now === undefined || isAsked(now.spec)) reconciler.add(identity)
    })
    reconciler.add(identity)
    tasks.start('informer leasecandidates', (signal) => informer.run(signal))
    reconciler.start(
      async (_, ctx) => this.#renew(ctx),
      () => Promise.resolve(),
      tasks,
    )
  }

  /** No longer stands, so that an election does not wait for its response. For an orderly shutdown. */
  async withdraw(signal: AbortSignal): Promise<void> {
    const { client, clock, identity, namespace } = this.#deps
    // Upstream's roles of components contain no deletion.
    const own = await client.of(leaseCandidate).find(identity, namespace, context(signal))
    const renewTime = rfc3339Micro(clock.nowMs() - candidacyMsMax - 1)
    if (own !== undefined)
      await client.of(leaseCandidate).update({ ...own, spec: { ...own.spec, renewTime } }, context(signal))
  }

  async #renew(ctx: Context): Promise<number> {
    const { client, clock, identity, leaseName, namespace, versions } = this.#deps
    const candidates = client.of(leaseCandidate)
    const spec = {
      leaseName,
      ...versions,
      renewTime: rfc3339Micro(clock.nowMs()),
      strategy: oldestEmulationVersion,
    }
    const existing = await candidates.find(identity, namespace, ctx)
    if (existing !== undefined) await candidates.update({ ...existing, spec: { ...existing.spec, ...spec } }, ctx)
    else await candidates.create({ metadata: { name: identity }, spec }, namespace, ctx).catch(unlessServed)
    return renewEveryMs
  }
}

function unlessServed(error: unknown): never {
  if (!hasReason(error, 'NotFound')) throw error
  throw new Error('the API server does not serve LeaseCandidates: its feature gate CoordinatedLeaderElection is off', {
    cause: error,
  })
}
