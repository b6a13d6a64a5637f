// startElected: starts a component whenever its process becomes the leader, or at once if it is not a candidate.
import { hostname } from 'node:os'
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { Gauge } from '../../base/observability/metrics.ts'
import { newUid } from '../../base/random/ids.ts'
import type { Random } from '../../base/random/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import { LeaderElection, type LeaseSettings } from '../../client/leader-election.ts'
import type { Held } from './component.ts'
import type { ComponentDefinition, ComponentHost, PreparedComponent } from './component-definition.ts'

export interface Candidate {
  /** Differs from that of every other process. */
  readonly identity: string
  readonly settings?: Partial<LeaseSettings>
  /** Shows which leases this process holds. */
  readonly gauge: Gauge
}

/** Time limit for releasing a lease. One that cannot be released expires. */
const releaseMs = 2_000

/** The identity of a process, in upstream's form. */
export const newIdentity = (random: Random): string => `${hostname()}_${newUid(random)}`

/** Returns its lease, which is released after all tasks have ended. */
export function startElected(
  { name, user, lease }: ComponentDefinition,
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
  const { settings, ...own } = candidate
  const client = host.client(name, user)
  const election = new LeaderElection({ ...host, client, name: lease, ...settings, ...own })
  tasks.start('leader election', (signal) => election.run(lead, signal))
  return { release: () => releaseInTime(election, host.clock) }
}

async function releaseInTime(election: LeaderElection, clock: Clock): Promise<void> {
  const deadline = new AbortController()
  const timer = clock.after(releaseMs, () => deadline.abort())
  await election.release(deadline.signal).catch(() => undefined)
  timer.cancel()
}
