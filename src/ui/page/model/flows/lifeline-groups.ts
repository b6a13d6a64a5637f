// Which participants of a diagram share a lifeline: the kubelets of many nodes are one, "kubelets (30)", until the user unfolds them.
import { controllersSender } from '../../../../api/coxswain/v1/flow-protocol.ts'
import type { LifelineOf } from '../../../../flows/fold-participants.ts'
import { hub, rankOf } from '../map-columns.ts'

export interface LifelineGroup {
  /** `kubelet` of `kubelet/node-1`. */
  readonly prefix: string
  readonly label: string
  readonly members: readonly string[]
  readonly isFolded: boolean
}

export interface LifelineGroups {
  readonly groups: readonly LifelineGroup[]
  readonly lifelineOf: LifelineOf
}

/** A group with more members shares a lifeline. */
const ownLifelinesMax = 3
const ownLifelinesMaxOf: ReadonlyMap<string, number> = new Map([['controller', 4]])
const plurals: ReadonlyMap<string, string> = new Map([
  ['csi', 'CSI drivers'],
  ['endpoint', 'endpoints'],
  ['proxy', 'proxies'],
])
const prefixOf = (participant: string): string =>
  participant === controllersSender ? 'controller' : (/^([^/]+)\/./.exec(participant)?.[1] ?? '')

/** Groups that are large enough to be folded. */
export function lifelineGroups(participants: Iterable<string>, unfolded: ReadonlySet<string>): LifelineGroups {
  const byPrefix = Map.groupBy(participants, prefixOf)
  const groups: LifelineGroup[] = []
  const lifelines = new Map<string, string>()
  for (const [prefix, members] of byPrefix) {
    const named = members.filter((name) => name !== controllersSender)
    if (prefix === '' || named.length <= (ownLifelinesMaxOf.get(prefix) ?? ownLifelinesMax)) continue
    const group = {
      prefix,
      label: `${plurals.get(prefix) ?? `${prefix}s`} (${named.length})`,
      members,
      isFolded: !unfolded.has(prefix),
    }
    groups.push(group)
    if (group.isFolded) for (const name of members) lifelines.set(name, group.label)
  }
  return { groups, lifelineOf: (name) => lifelines.get(name) ?? name }
}

/** The groups that are unfolded, with those of which a filter names a member: `kubelet/node-1>API Server`. */
export function unfoldedFor(unfolded: Iterable<string>, between: string): ReadonlySet<string> {
  const named = between.split('>').filter((name) => name !== controllersSender)
  return new Set([...unfolded, ...named.map(prefixOf)].filter((prefix) => prefix !== ''))
}

/** Without an object the first messages are dropped as others follow, so the order is not theirs: clients, then the API server with its store, the scheduler, the controllers, and the nodes. */
export function inReadingOrder(participants: Iterable<string>): string[] {
  const rank = (name: string): number => (name === hub ? 0.1 : name === 'Store' ? 0.2 : rankOf(name))
  return [...participants].toSorted((a, b) => rank(a) - rank(b))
}
