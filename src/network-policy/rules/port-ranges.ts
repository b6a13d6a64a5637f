// Ranges of ports, by protocol and without overlap.
import { portLast, protocols, type PortMatch, type Protocol } from './compiled-policy.ts'

export interface PortRange {
  readonly first: number
  readonly last: number
}

export interface ProtocolPorts {
  readonly protocol: Protocol
  /** In ascending order. */
  readonly ranges: readonly PortRange[]
}

/** The ports that the matches allow. `numbersOf` resolves a named port. */
export function mergedPorts(
  ports: readonly PortMatch[],
  numbersOf: (protocol: Protocol, name: string) => readonly number[],
): readonly ProtocolPorts[] {
  const ranges = ports.flatMap((match) =>
    match.kind === 'range'
      ? [match]
      : numbersOf(match.protocol, match.name).map((port) => ({ protocol: match.protocol, first: port, last: port })),
  )
  return protocols.flatMap((protocol) => {
    const own = ranges.filter((range) => range.protocol === protocol)
    return own.length === 0 ? [] : [{ protocol, ranges: merged(own) }]
  })
}

function merged(ranges: readonly PortRange[]): readonly PortRange[] {
  const result: { first: number; last: number }[] = []
  for (const { first, last } of ranges.toSorted((a, b) => a.first - b.first)) {
    const previous = result.at(-1)
    if (previous !== undefined && first <= previous.last + 1) previous.last = Math.max(previous.last, last)
    else result.push({ first, last })
  }
  return result
}

export const isAllPorts = ([range]: readonly PortRange[]): boolean => range?.first === 0 && range.last === portLast
