// inSlots: the order of endpoints in a map. Endpoints keep their positions, so that a changed endpoint changes one element
// of the map, whatever the number of endpoints.
import { commandText, type CommandText } from '../../base/net/command-text.ts'
import type { PortEndpoint } from '../routing/endpoint-selection.ts'

export function inSlots(before: readonly PortEndpoint[], now: readonly PortEndpoint[]): readonly PortEndpoint[] {
  if (isSameOrder(before, now)) return now
  const unplaced = new Map(now.map((endpoint) => [slotId(endpoint), endpoint]))
  const slots: (PortEndpoint | undefined)[] = before.slice(0, unplaced.size).map((endpoint) => {
    const id = slotId(endpoint)
    const kept = unplaced.get(id)
    unplaced.delete(id)
    return kept
  })
  const rest = unplaced.values()
  for (const [index, slot] of slots.entries()) if (slot === undefined) slots[index] = rest.next().value
  return [...slots.filter((slot) => slot !== undefined), ...rest]
}

const isSameOrder = (before: readonly PortEndpoint[], now: readonly PortEndpoint[]): boolean =>
  before.length === now.length &&
  before.every(({ address, port }, index) => address === now[index]?.address && port === now[index].port)

export const slotId = ({ address, port }: PortEndpoint): CommandText => commandText`${address} . ${port}`
