// NodePorts: the pod's host ports must be free on the node.
import { defineSchedulerPlugin, rejection, skip, type Cycle } from '../framework/framework.ts'
import { podFacts, portsConflict, type HostPort } from '../snapshot/pod-facts.ts'

const taken = rejection("node(s) didn't have free ports for the requested pod ports", true)

export const nodePorts = defineSchedulerPlugin<readonly HostPort[], never>({
  name: 'NodePorts',
  isLocal: true,
  preFilter: ({ facts: { hostPorts } }) => (hostPorts.length === 0 ? skip : { kind: 'check', state: hostPorts }),
  filter: (cycle, slot, wanted) => (isFree(cycle, slot, wanted) ? undefined : taken),
  eventsToRegister: ['node-added', 'pod-removed'],
  queueingHint: (event, pod) =>
    event.kind === 'node-added' ||
    (event.kind === 'pod-removed' && conflicts(podFacts(event.pod).hostPorts, podFacts(pod).hostPorts)),
})

const conflicts = (used: readonly HostPort[], wanted: readonly HostPort[]): boolean =>
  used.some((a) => wanted.some((b) => portsConflict(a, b)))

function isFree({ snapshot }: Cycle, slot: number, wanted: readonly HostPort[]): boolean {
  for (const { facts } of snapshot.podsOn(slot))
    if (facts.hostPorts.length > 0 && conflicts(facts.hostPorts, wanted)) return false
  return true
}
