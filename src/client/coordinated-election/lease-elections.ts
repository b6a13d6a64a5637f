// LeaseElections: coordinated leader election. It chooses the holders of Leases that have candidates, and deletes candidates that
// have ended. One API server does it for the cluster.
import type { TaskGroup } from '../../base/async/task-group.ts'
import { context, type Context } from '../../base/observability/context.ts'
import { errorText } from '../../base/observability/log.ts'
import { rfc3339Micro } from '../../base/time/clock.ts'
import { lease, type Lease } from '../../api/coordination/v1/lease.ts'
import { leaseCandidate, type LeaseCandidate } from '../../api/coordination/v1beta1/lease-candidate.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import { keyOf, namespaceOf, objectKey, splitKey, type ObjectKey } from '../../api/meta/object.ts'
import type { Client } from '../client.ts'
import type { Informer, InformerDeps } from '../informer/informer.ts'
import { Informers } from '../informer/informers.ts'
import { Reconciler } from '../reconcile/reconciler.ts'
import { answerMsMax, candidacyMsMax, electionStep, isAsked, nextStepMs, type ElectionStep } from './election-step.ts'

/** As upstream, also the name of its own lease. */
export const leaseElectionsName = 'leader-election-controller'

const byLease = 'lease'

interface LeaseElectionsDeps extends InformerDeps {
  readonly client: Client
}

export class LeaseElections {
  readonly #deps: LeaseElectionsDeps
  readonly #leases: Informer<Lease>
  readonly #candidates: Informer<LeaseCandidate>

  constructor(deps: LeaseElectionsDeps, tasks: TaskGroup) {
    this.#deps = deps
    const informers = new Informers(deps.client, deps, tasks)
    this.#leases = informers.of(lease)
    this.#candidates = informers.of(leaseCandidate)
    this.#candidates.addIndex(byLease, (candidate) => [leaseKeyOf(candidate)])
    const elections = new Reconciler({ name: leaseElectionsName, workers: 1, isPeriodic: true }, deps)
    this.#leases.onChange(({ key, cause }) => {
      if (this.#candidatesOf(key).length > 0) elections.add(key, cause)
    })
    this.#candidates.onChange(({ now, before, cause }) => {
      const changed = (now ?? before) as LeaseCandidate
      // A question is part of an election, which continues with the response.
      if (now === undefined || !isAsked(now.spec)) elections.add(leaseKeyOf(changed), cause)
    })
    elections.start(
      (key, ctx) => this.#elect(key, ctx),
      () => informers.synced(),
      tasks,
    )
    tasks.start('ended lease candidates', (signal) => this.#collect(signal))
  }

  #candidatesOf(key: string): readonly LeaseCandidate[] {
    return this.#candidates.byIndex(byLease, key)
  }

  async #elect(key: ObjectKey, ctx: Context): Promise<number | undefined> {
    const { clock, log } = this.#deps
    const nowMs = clock.nowMs()
    const current = this.#leases.get(key)
    const candidates = this.#candidatesOf(key)
    const step = electionStep(current, candidates, nowMs)
    if (step.kind === 'none') return undefined
    if (step.kind === 'failed') {
      log.warn('no leader was elected', { lease: key, why: step.why })
      return answerMsMax
    }
    await this.#act(step, key, current, ctx)
    return nextStepMs(current, candidates, nowMs)
  }

  async #act(
    step: Extract<ElectionStep, { readonly kind: 'wait' | 'ask' | 'write' }>,
    key: ObjectKey,
    current: Lease | undefined,
    ctx: Context,
  ): Promise<void> {
    const { client, clock, log } = this.#deps
    const { namespace, name } = splitKey(key)
    switch (step.kind) {
      case 'wait':
        return
      case 'ask': {
        const spec = { pingTime: rfc3339Micro(clock.nowMs()) }
        for (const { metadata } of step.candidates)
          await client.of(leaseCandidate).patch(metadata.name, namespace, { spec }, 'merge', ctx)
        return
      }
      case 'write': {
        const { spec } = step
        if (current === undefined) await client.of(lease).create({ metadata: { name }, spec }, namespace, ctx)
        else await client.of(lease).update({ ...current, spec }, ctx)
        const { holderIdentity: holder = '', preferredHolder: preferred = '' } = spec
        log.info('a leader was elected', { lease: key, holder, preferred })
        return
      }
      default:
        return step satisfies never
    }
  }

  async #collect(signal: AbortSignal): Promise<void> {
    const { client, clock, log } = this.#deps
    for (;;) {
      await clock.sleep(candidacyMsMax, signal)
      const endedMs = clock.nowMs() - candidacyMsMax
      for (const each of [...this.#candidates.all()].filter(({ spec }) => Date.parse(spec.renewTime ?? '') < endedMs)) {
        const { name, uid, resourceVersion } = each.metadata
        const deleted = client
          .of(leaseCandidate)
          .delete(name, namespaceOf(each), { uid, resourceVersion }, context(signal))
        await deleted.catch((error: unknown) => {
          if (!signal.aborted && !hasReason(error, 'NotFound'))
            log.debug('an ended lease candidate was not deleted', { name: keyOf(each), error: errorText(error) })
        })
      }
    }
  }
}

const leaseKeyOf = (candidate: LeaseCandidate): string => objectKey(namespaceOf(candidate), candidate.spec.leaseName)
