// startElected: starts a component whenever its process becomes the leader, or at once if it is not a candidate.
import type { TaskGroup } from '../../base/async/task-group.ts'
import { LeaderElection, type LeaseSettings } from '../../client/leader-election.ts'
import type { ComponentDefinition, ComponentHost, PreparedComponent } from './component-definition.ts'

export interface Candidate {
  /** Differs from that of every other process. */
  readonly identity: string
  readonly settings?: Partial<LeaseSettings>
}

export interface HeldLease {
  /** Releases the lease after an orderly end, so that the next leader need not wait. */
  release(signal: AbortSignal): Promise<void>
}

const noLease: HeldLease = { release: () => Promise.resolve() }

export function startElected(
  { name, user, lease }: ComponentDefinition,
  { start, leaderGauge }: PreparedComponent,
  host: ComponentHost,
  candidate: Candidate | undefined,
  tasks: TaskGroup,
  onLead: () => void = () => {},
): HeldLease {
  const lead = (leading: TaskGroup) => {
    onLead()
    start(leading)
  }
  if (candidate === undefined || lease === undefined) {
    lead(tasks)
    return noLease
  }
  const { identity, settings } = candidate
  const client = host.client(name, user)
  const gauge = leaderGauge?.()
  const election = new LeaderElection({ ...host, client, name: lease, ...settings, identity, ...(gauge && { gauge }) })
  tasks.start('leader election', (signal) => election.run(lead, signal))
  return election
}
