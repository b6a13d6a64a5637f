// LeaderElection: at most one of several candidates leads, and another takes over when the leader stops renewing its
// lease. The leader gives up after `renewMs` without a renewal; candidates wait until they have seen no change of the
// lease for `leaseMs`, by their own clocks. So the leader stops before another starts, and clocks need not be
// synchronized.
import { rfc3339Micro, type Clock } from '../base/time/clock.ts'
import { context } from '../base/observability/context.ts'
import { errorText, type Log } from '../base/observability/log.ts'
import type { Gauge, Metrics } from '../base/observability/metrics.ts'
import type { Random } from '../base/random/random.ts'
import { TaskGroup } from '../base/async/task-group.ts'
import { lease, type Lease } from '../api/coordination/v1/lease.ts'
import { equalValues } from '../schema/json/json-value.ts'
import type { Client } from './client.ts'

/** Whether this process leads, by the name of the lease, under upstream's name. */
export const leaderGauge = (metrics: Metrics): Gauge =>
  metrics.gauge(
    'leader_election_master_status',
    "[ALPHA] Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. 'name' is the string used to identify the lease. Please make sure to group by name.",
    ['name'],
  )

/** Jitter, so that candidates do not retry at the same time. */
const retryJitter = 1.2

export interface LeaseSettings {
  /** The name of the lease: `kube-controller-manager`. */
  readonly name: string
  readonly namespace: string
  /** How long candidates wait after the last observed renewal. */
  readonly leaseMs: number
  /** How long a leader tries to renew before it stops leading. */
  readonly renewMs: number
  /** The time between attempts. */
  readonly retryMs: number
}

export const leaseDefault = { namespace: 'kube-system', leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 }

export interface LeaderElectionDeps extends Pick<LeaseSettings, 'name'>, Partial<Omit<LeaseSettings, 'name'>> {
  readonly client: Client
  /** The unique identity of this candidate. */
  readonly identity: string
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** Whether the API server chooses the holder (coordinated leader election): then this candidate only renews. */
  readonly isCoordinated?: boolean
  /** See leaderGauge. Elections that are not of upstream's components leave it out. */
  readonly gauge?: Gauge
}

export class LeadershipLost extends Error {
  override name = 'LeadershipLost'
}

export class LeaderElection {
  readonly #deps: LeaderElectionDeps & LeaseSettings
  #observedLease: Lease | undefined
  #observedMs = 0
  /** When the request of the last renewal was sent: others may have observed it at any time since. */
  #renewedMs = 0
  #isLeader = false
  /** The candidate that the API server has chosen instead of this leader. */
  #successor: string | undefined

  constructor(deps: LeaderElectionDeps) {
    this.#deps = { ...leaseDefault, ...deps }
    this.#setLeader(false)
  }

  get isLeader(): boolean {
    return this.#isLeader
  }

  /**
   * Waits until this candidate leads, then calls `lead`. When the lease is lost, stops its tasks and throws. A leader that
   * is replaced by coordinated leader election stops its tasks, releases the lease and is a candidate again.
   */
  async run(lead: (tasks: TaskGroup) => void, signal: AbortSignal): Promise<void> {
    const { clock, random, log, name, identity, retryMs } = this.#deps
    for (;;) {
      while (!(await this.#attempt(signal)) || !this.#isFresh())
        await clock.sleep(retryMs * (1 + random.fraction() * retryJitter), signal)
      log.info('became the leader', { lease: name, identity })
      await this.#lead(lead, signal)
      log.info('another leader was elected', { lease: name, identity, elected: this.#successor })
      await this.release(signal).catch((error: unknown) => {
        if (!signal.aborted) log.debug('the lease was not released', { lease: name, error: errorText(error) })
      })
    }
  }

  /** Returns when another leader was elected. */
  async #lead(lead: (tasks: TaskGroup) => void, signal: AbortSignal): Promise<void> {
    this.#successor = undefined
    this.#setLeader(true)
    const failed = Promise.withResolvers<never>()
    const tasks = new TaskGroup({ signal, onFailure: (_, error) => failed.reject(error) })
    try {
      lead(tasks)
      await Promise.race([this.#renew(signal), failed.promise])
    } finally {
      this.#setLeader(false)
      tasks.stop()
      await tasks.join()
    }
  }

  /**
   * Releases the lease, so that the next leader need not wait. For an orderly shutdown, after all tasks have stopped.
   */
  async release(signal: AbortSignal): Promise<void> {
    const { client, clock, identity, name, namespace } = this.#deps
    if (this.#observedLease?.spec.holderIdentity !== identity) return
    // Read again: a renewal whose response was not awaited may have changed it.
    const held = await client.of(lease).find(name, namespace, context(signal))
    if (held?.spec.holderIdentity !== identity) return
    const spec = { ...held.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: rfc3339Micro(clock.nowMs()) }
    await client.of(lease).update({ ...held, spec }, context(signal))
  }

  #setLeader(isLeader: boolean): void {
    const { name, gauge } = this.#deps
    this.#isLeader = isLeader
    gauge?.set({ name }, isLeader ? 1 : 0)
  }

  async #renew(signal: AbortSignal): Promise<void> {
    const { clock, name, renewMs, retryMs } = this.#deps
    const leftMs = () => Math.max(0, this.#renewedMs + renewMs - clock.monotonicMs())
    for (;;) {
      await clock.sleep(Math.min(retryMs, leftMs()), signal)
      const deadline = new AbortController()
      const timer = clock.after(leftMs(), () => deadline.abort())
      try {
        await this.#attempt(AbortSignal.any([signal, deadline.signal]))
      } finally {
        timer.cancel()
      }
      signal.throwIfAborted()
      if (this.#successor !== undefined) return
      if (!this.#isFresh()) throw new LeadershipLost(`the lease ${name} could not be renewed`)
    }
  }

  /** Whether a holder of the lease may still lead. */
  #isFresh(): boolean {
    const { clock, renewMs } = this.#deps
    return clock.monotonicMs() - this.#renewedMs < renewMs
  }

  #attempt(signal: AbortSignal): Promise<boolean> {
    return this.#deps.isCoordinated === true ? this.#renewElected(signal) : this.#acquireOrRenew(signal)
  }

  /** Renews a lease that the API server has given to this candidate. Returns whether this candidate holds it. */
  async #renewElected(signal: AbortSignal): Promise<boolean> {
    const { client, clock, identity, name, namespace, leaseMs, log } = this.#deps
    const leases = client.of(lease)
    const ctx = context(signal)
    const sentMs = clock.monotonicMs()
    const now = rfc3339Micro(clock.nowMs())
    try {
      const known = await leases.find(name, namespace, ctx)
      if (known === undefined) return false
      this.#observe(known)
      const { holderIdentity, preferredHolder = '', leaseDurationSeconds = 0, acquireTime = now } = known.spec
      const hasExpired = clock.monotonicMs() - this.#observedMs > leaseDurationSeconds * 1000
      if (holderIdentity !== identity || hasExpired) return false
      if (preferredHolder !== '') {
        this.#successor = preferredHolder
        return false
      }
      const held = { leaseDurationSeconds: leaseMs / 1000, renewTime: now, acquireTime }
      this.#observe(await leases.update({ ...known, spec: { ...known.spec, ...held } }, ctx))
      this.#renewedMs = sentMs
      return true
    } catch (error) {
      if (!signal.aborted) log.debug('the lease was not renewed', { lease: name, error: errorText(error) })
      return false
    }
  }

  /** Acquires or renews the lease. Returns whether this candidate holds it; false after a failure. */
  async #acquireOrRenew(signal: AbortSignal): Promise<boolean> {
    const { client, clock, identity, name, namespace, leaseMs, log } = this.#deps
    const leases = client.of(lease)
    const ctx = context(signal)
    const sentMs = clock.monotonicMs()
    const now = rfc3339Micro(clock.nowMs())
    const held = { holderIdentity: identity, leaseDurationSeconds: leaseMs / 1000, renewTime: now }
    try {
      // The leader renews without a read: a conflict shows that the lease was changed.
      const known = this.#isLeader ? this.#observedLease : await leases.find(name, namespace, ctx)
      if (known === undefined) {
        const made = { metadata: { name }, spec: { ...held, acquireTime: now, leaseTransitions: 0 } }
        this.#observe(await leases.create(made, namespace, ctx))
        this.#renewedMs = sentMs
        return true
      }
      this.#observe(known)
      const { holderIdentity = '', leaseTransitions = 0, acquireTime = now } = known.spec
      const isOurs = holderIdentity === identity
      if (!isOurs && holderIdentity !== '' && clock.monotonicMs() - this.#observedMs < leaseMs) return false
      const taken = isOurs
        ? { acquireTime, leaseTransitions }
        : { acquireTime: now, leaseTransitions: leaseTransitions + 1 }
      this.#observe(await leases.update({ ...known, spec: { ...known.spec, ...held, ...taken } }, ctx))
      this.#renewedMs = sentMs
      return true
    } catch (error) {
      if (!signal.aborted) log.debug('the lease was not acquired', { lease: name, error: errorText(error) })
      // The known lease may be stale, so it is read again for the next attempt.
      if (this.#isLeader) await this.#refreshLease(signal)
      return false
    }
  }

  async #refreshLease(signal: AbortSignal): Promise<void> {
    const found = await this.#deps.client
      .of(lease)
      .find(this.#deps.name, this.#deps.namespace, context(signal))
      .catch(() => undefined)
    if (found?.spec.holderIdentity === this.#deps.identity) this.#observedLease = found
  }

  /** Every observed change restarts the wait. */
  #observe(found: Lease): void {
    if (this.#observedLease === undefined || !equalValues(this.#observedLease.spec, found.spec))
      this.#observedMs = this.#deps.clock.monotonicMs()
    this.#observedLease = found
  }
}
