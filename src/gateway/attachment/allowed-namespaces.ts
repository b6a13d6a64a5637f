// AllowedNamespaces: from which namespaces listeners allow routes, and Gateways ListenerSets. Each listener decides once about a namespace, because
// its selector may be long and routes are many.
import { namespaceOf } from '../../api/meta/object.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { matchesLabels, selectorOf, type Labels } from '../../api/selectors/selectors.ts'
import type { Gateway, Listener } from '../kinds/gateway-kinds.ts'
import type { ListenerVerdict } from './listener-verdict.ts'

const operators = new Set(['In', 'NotIn', 'Exists', 'DoesNotExist'])

interface Decisions {
  readonly isSelected: (labels: Labels | undefined) => boolean
  readonly byNamespace: Map<string, boolean>
}

export class AllowedNamespaces {
  readonly #labelsOf: (namespace: string) => Labels | undefined
  readonly #decisions = new Map<Listener, Decisions>()

  constructor(labelsOf: (namespace: string) => Labels | undefined) {
    this.#labelsOf = labelsOf
  }

  has({ listener, owner }: ListenerVerdict, namespace: string): boolean {
    const { from = 'Same', selector } = listener.allowedRoutes?.namespaces ?? {}
    switch (from) {
      case 'All':
        return true
      case 'Same':
        return namespace === namespaceOf(owner.object)
      case 'Selector': {
        const { isSelected, byNamespace } = getOrInsert(this.#decisions, listener, () => ({
          isSelected: selectionOf(selector),
          byNamespace: new Map<string, boolean>(),
        }))
        return getOrInsert(byNamespace, namespace, () => isSelected(this.#labelsOf(namespace)))
      }
      default:
        return from satisfies never
    }
  }
}

type Selector = NonNullable<NonNullable<Listener['allowedRoutes']>['namespaces']>['selector']

/** Whether a Gateway allows ListenerSets of a namespace. */
export function allowsListenerSets(
  gateway: Gateway,
  namespace: string,
  labelsOf: (namespace: string) => Labels | undefined,
): boolean {
  const { from = 'None', selector } = gateway.spec.allowedListeners?.namespaces ?? {}
  switch (from) {
    case 'All':
      return true
    case 'None':
      return false
    case 'Same':
      return namespace === namespaceOf(gateway)
    case 'Selector':
      return selectionOf(selector)(labelsOf(namespace))
    default:
      return from satisfies never
  }
}

/** A selector with an unknown operator selects nothing; the schema does not restrict operators. */
function selectionOf(selector: Selector): Decisions['isSelected'] {
  const requirements = selectorOf(selector)
  if (requirements === undefined || !requirements.every(({ operator }) => operators.has(operator))) return () => false
  return (labels) => matchesLabels(requirements, labels)
}
