// Faults of links between simulated pods, nodes and hosts outside the cluster: slow, lossy and cut links.
import type { ObjectKey } from '../../api/meta/object.ts'
import type { LinkFault, NetworkHost } from '../../machine/network/link-faults.ts'
import { isAt, parsePlace, type NetworkPlace } from '../network/network-place.ts'

/**
 * The packets of one direction. A place is `pod/<name>`, `pod/<namespace>/<name>`, `node/<name>` (with all its pods),
 * `service/<name>`, `service/<namespace>/<name>` (all its endpoints) or `outside`; every host if it is omitted.
 */
export interface Link {
  readonly from?: string
  readonly to?: string
}

export interface SlowLink extends Link {
  /** By how much each packet is delayed. */
  readonly ms: number
}

export interface LossyLink extends Link {
  /** The share of packets that are lost, from 0 to 1. TCP sends them again, so bytes arrive later, or never at 1. */
  readonly share: number
}

type IsEndpoint = (service: ObjectKey, address: string) => boolean

export function slowLinkFault({ from, to, ms }: SlowLink, isEndpoint: IsEndpoint): LinkFault {
  if (!(ms >= 0)) throw new RangeError(`the delay of a link is ${ms} ms; it must not be negative`)
  return { matches: matcherOf({ ...given({ from, to }) }, isEndpoint), delayMs: ms, lossShare: 0 }
}

export function lossyLinkFault({ from, to, share }: LossyLink, isEndpoint: IsEndpoint): LinkFault {
  if (!(share >= 0 && share <= 1)) throw new RangeError(`the share of lost packets is ${share}; it must be from 0 to 1`)
  return { matches: matcherOf(given({ from, to }), isEndpoint), delayMs: 0, lossShare: share }
}

/** Hosts of different groups cannot reach one another. Hosts that are in no group reach all. */
export function partitionFault(groups: readonly (readonly string[])[], isEndpoint: IsEndpoint): LinkFault {
  if (groups.length < 2) throw new RangeError('a partition has at least two groups: partition([[…], […]])')
  const places = groups.map((group) => group.map(parsePlace))
  const groupOf = (host: NetworkHost) =>
    places.findIndex((group) => group.some((place) => isAt(place, host, isEndpoint)))
  const matches: LinkFault['matches'] = (from, to) => {
    const one = groupOf(from)
    const other = groupOf(to)
    return one !== -1 && other !== -1 && one !== other
  }
  return { matches, delayMs: 0, lossShare: 1 }
}

interface Places {
  readonly from?: NetworkPlace
  readonly to?: NetworkPlace
}

const given = ({ from, to }: { from: string | undefined; to: string | undefined }): Places => ({
  ...(from === undefined ? {} : { from: parsePlace(from) }),
  ...(to === undefined ? {} : { to: parsePlace(to) }),
})

const matcherOf =
  (places: Places, isEndpoint: IsEndpoint): LinkFault['matches'] =>
  (from, to) =>
    (places.from === undefined || isAt(places.from, from, isEndpoint)) &&
    (places.to === undefined || isAt(places.to, to, isEndpoint))
