// startElected: starts a component whenever its process becomes the leader, or at once if it is not a candidate.
import { hostname } from 'node:os'
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { Gauge } from '../../base/observability/metrics.ts'
import { newUid } from '../../base/random/ids.ts'
import type { Random } from '../../base/random/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import { LeaseCandidacy, type ProgramVersions } from '../../client/coordinated-election/lease-candidacy.ts'
import { LeaderElection, leaseDefault, type LeaseSettings } from '../../client/leader-election.ts'
import type { Held } from './component.ts'
import type { ComponentDefinition, ComponentHost, PreparedComponent } from './component-definition.ts'

export interface Candidate {
  /** Differs from that of every other process. */
  readonly identity: string
  readonly settings?: Partial<LeaseSettings>
  /** Shows which leases this process holds. */
  readonly gauge: Gauge
  /** With coordinated leader election: the versions with which components stand that take part in it. */
  readonly versions?: ProgramVersions | undefined
}

/** Time limit for releasing a lease. One that cannot be released expires. */
const releaseMs = 2_000

/** The identity of a process, in upstream's form. */
export const newIdentity = (random: Random): string => `${hostname()}_${newUid(random)}`

/** Returns its lease, which is released after all tasks have ended. */
export function startElected(
  { name, user, lease, isCoordinated = false }: ComponentDefinition,
  { start }: PreparedComponent,
  host: ComponentHost,
  candidate: Candidate | undefined,
  tasks: TaskGroup,
  onLead: () => void = () => {},
): Held | undefined {
  const lead = (leading: TaskGroup) => {
    onLead()
    start(leading)
  }
  if (candidate === undefined || lease === undefined) {
    lead(tasks)
    return undefined
  }
  const { settings, versions, identity, gauge } = candidate
  const client = host.client(name, user)
  const chosen = { ...leaseDefault, name: lease, ...settings }
  const { clock, random, log } = host
  const own = { clock, random, log, client, identity }
  const candidacy =
    isCoordinated && versions !== undefined
      ? new LeaseCandidacy({ ...own, leaseName: chosen.name, namespace: chosen.namespace, versions })
      : undefined
  const election = new LeaderElection({ ...own, ...chosen, gauge, isCoordinated: candidacy !== undefined })
  candidacy?.start(tasks)
  tasks.start('leader election', (signal) => election.run(lead, signal))
  return {
    release: () =>
      inTime(clock, async (signal) => {
        await candidacy?.withdraw(signal).catch(() => undefined)
        await election.release(signal)
      }),
  }
}

async function inTime(clock: Clock, release: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const deadline = new AbortController()
  const timer = clock.after(releaseMs, () => deadline.abort())
  await release(deadline.signal).catch(() => undefined)
  timer.cancel()
}
