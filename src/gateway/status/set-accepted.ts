// Whether a ListenerSet is accepted: it is attached, and at least one of its listeners is valid. Pure.
import { areListenersServed, type GatewayVerdict, type ListenerSetVerdict } from '../attachment/evaluate-gateways.ts'
import { isServed } from '../attachment/listener-verdict.ts'
import { met, unmet, type Outcome } from '../attachment/outcome.ts'

export function setAccepted({ attached, listeners }: ListenerSetVerdict, gateway: GatewayVerdict): Outcome {
  if (!attached.isMet) return attached
  if (!areListenersServed(gateway)) return unmet('ParentNotAccepted', 'the Gateway is not served')
  const invalid = listeners.filter((each) => !isServed(each))
  if (invalid.length === 0) return attached
  const message = `not valid: ${invalid.map(({ listener }) => listener.name).join(', ')}`
  return invalid.length === listeners.length ? unmet('ListenersNotValid', message) : met('ListenersNotValid', message)
}
