// What network policies do with the traffic of a Service: they drop all of it, or that of the clients which no rule names.
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import type { Service } from '../../../api/core/v1/service/service.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import { networkPolicy } from '../../../api/networking/v1/network-policy.ts'
import { compiledPolicy, type CompiledPolicy, type Protocol } from '../../../network-policy/rules/compiled-policy.ts'
import { isSelected, namedPortId, podFacts, type PodFacts } from '../../../network-policy/rules/pod-facts.ts'
import { mergedPorts } from '../../../network-policy/rules/port-ranges.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'

/** Pods that are named; others are counted. */
const podsMax = 5

export async function policySentences(
  object: Service,
  pods: readonly Pod[],
  cluster: ClusterReader,
): Promise<readonly string[]> {
  const policies = (await cluster.list(networkPolicy, namespaceOf(object))).map(compiledPolicy)
  if (policies.length === 0) return []
  const found = pods.flatMap((each) => {
    const facts = podFacts(each)
    return facts === undefined
      ? []
      : portsOf(object, facts).flatMap(({ protocol, port }) => {
          const text = restriction(facts, protocol, port, policies)
          return text === undefined ? [] : [{ pod: each.metadata.name, port: `${port}/${protocol}`, text }]
        })
  })
  return Array.from(
    Map.groupBy(found, ({ port, text }) => `${port} ${text}`).values(),
    ([first, ...more]) =>
      `Port ${first?.port} of ${namesText([first, ...more].map((each) => each?.pod ?? ''))} ${first?.text}`,
  )
}

function namesText(names: readonly string[]): string {
  if (names.length === 1) return `pod ${names[0]}`
  const shown = names.slice(0, podsMax).join(', ')
  return names.length > podsMax ? `the pods ${shown} and ${names.length - podsMax} more` : `the pods ${shown}`
}

/** The ports of the pod behind the Service. */
const portsOf = ({ spec }: Service, { ports }: PodFacts): { readonly protocol: Protocol; readonly port: number }[] =>
  (spec.ports ?? []).flatMap(({ protocol, port, targetPort = port }) =>
    typeof targetPort === 'number'
      ? [{ protocol, port: targetPort }]
      : (ports.get(namedPortId(protocol, targetPort)) ?? []).map((each) => ({ protocol, port: each })),
  )

/** Undefined if every client may reach the port of the pod. */
function restriction(
  pod: PodFacts,
  protocol: Protocol,
  port: number,
  policies: readonly CompiledPolicy[],
): string | undefined {
  const isolating = policies.filter(
    ({ namespace, pods, rules }) =>
      rules.ingress !== undefined && isSelected({ namespaces: { name: namespace }, pods }, pod, undefined),
  )
  if (isolating.length === 0) return undefined
  const numbersOf = (of: Protocol, name: string) => pod.ports.get(namedPortId(of, name)) ?? []
  const open = isolating.flatMap(({ key, rules }) =>
    (rules.ingress ?? [])
      .filter(
        ({ ports }) =>
          ports === undefined ||
          mergedPorts(ports, numbersOf).some(
            (each) =>
              each.protocol === protocol && each.ranges.some(({ first, last }) => port >= first && port <= last),
          ),
      )
      .map((rule) => ({ ...rule, name: `ingress[${rule.index}] of ${key}` })),
  )
  if (open.some(({ peers }) => peers === undefined)) return undefined
  const keys = isolating.map(({ key }) => key).join(', ')
  if (open.length === 0)
    return `gets no traffic: no rule of the network policies that isolate it (${keys}) allows the port.`
  return `is open for some clients only: those in rule ${open.map(({ name }) => name).join(', ')}. coxswain why pod/<client> --reach explains one client.`
}
