// Explains why a Gateway does not serve requests, and why a route is not attached to its parents: what their controller
// reports, and objects that are missing.
import { namespaceOf, objectKey, type ApiObject } from '../../../api/meta/object.ts'
import { gatewayGroup } from '../../../gateway/definitions/schema-parts.ts'
import { gateway, gatewayClass, type Gateway } from '../../../gateway/kinds/gateway-kinds.ts'
import {
  grpcRoute,
  httpRoute,
  tlsRoute,
  type BackendReference,
  type ParentReference,
  type RouteStatus,
} from '../../../gateway/kinds/route-kinds.ts'
import { isMissing, type ClusterReader } from '../explainer/cluster-reader.ts'
import { because, conditionOf, defineExplainer } from '../explainer/explainer.ts'
import { problem, problems, type Finding } from '../explainer/finding.ts'
import { backendFindings } from './backend-service.ts'

export const gatewayExplainer = defineExplainer({
  kind: gateway,
  checked: 'its class, its conditions and those of its listeners',
  async explain(object, cluster) {
    const name = object.spec.gatewayClassName
    if (await isMissing(cluster, gatewayClass, '', name)) return [problem(`Its class ${name} does not exist.`)]
    return problems([...ownSentences(object), ...listenerSentences(object)])
  },
})

function ownSentences({ status, spec }: Gateway): string[] {
  const [accepted, programmed] = ['Accepted', 'Programmed'].map((type) => conditionOf(status?.conditions, type))
  if (accepted === undefined || accepted.status === 'Unknown')
    return [`The controller of its class ${spec.gatewayClassName} has not reported on it.`]
  if (accepted.status === 'False') return [`It is not accepted: ${because(accepted)}.`]
  return programmed?.status === 'False' ? [`It is not programmed: ${because(programmed)}.`] : []
}

const listenerSentences = ({ status }: Gateway): string[] =>
  (status?.listeners ?? []).flatMap(({ name, conditions }) => {
    const [programmed, resolved] = ['Programmed', 'ResolvedRefs'].map((type) => conditionOf(conditions, type))
    if (programmed?.status === 'False') return [`Its listener ${name} is not programmed: ${because(programmed)}.`]
    return resolved?.status === 'False' ? [`Its listener ${name} has unresolved references: ${because(resolved)}.`] : []
  })

interface AnyRouteObject extends ApiObject {
  readonly spec: {
    readonly parentRefs?: readonly ParentReference[]
    readonly rules?: readonly { readonly backendRefs?: readonly BackendReference[] }[]
  }
  readonly status?: RouteStatus
}

const checked = 'its parents, its references, and the endpoints of the Services in its namespace'

async function routeFindings(route: AnyRouteObject, cluster: ClusterReader): Promise<Finding[]> {
  const { parentRefs = [] } = route.spec
  if (parentRefs.length === 0) return [problem('It names no parent, so nothing serves it.')]
  const sentences: string[] = []
  for (const parentRef of parentRefs) sentences.push(...(await parentSentences(route, parentRef, cluster)))
  const services = await backendsOf(route, cluster)
  return [...problems([...new Set([...sentences, ...unresolvedSentences(route, services.length > 0)])]), ...services]
}

async function parentSentences(route: AnyRouteObject, ref: ParentReference, cluster: ClusterReader): Promise<string[]> {
  const home = namespaceOf(route)
  const { group = gatewayGroup, kind = 'Gateway', namespace = home, name, sectionName } = ref
  const text = `${kind} ${objectKey(namespace, name)}${sectionName === undefined ? '' : `, listener ${sectionName}`}`
  const reports = (route.status?.parents ?? []).filter(({ parentRef: of }) => isSameParent(of, ref, home))
  if (reports.length > 0)
    return reports.flatMap(({ conditions }) => {
      const accepted = conditionOf(conditions, 'Accepted')
      const dropped = conditionOf(conditions, 'PartiallyInvalid')
      if (accepted?.status === 'False') return [`It is not attached to ${text}: ${because(accepted)}.`]
      return dropped?.status === 'True' ? [`Some of its rules are not served by ${text}: ${because(dropped)}.`] : []
    })
  if (group !== gatewayGroup || kind !== 'Gateway') return [`No controller has reported on its parent ${text}.`]
  return (await isMissing(cluster, gateway, namespace, name))
    ? [`Its parent ${text} does not exist.`]
    : [`The controller of its parent ${text} has not reported on it: see coxswain why gateway/${name}.`]
}

const isSameParent = (a: ParentReference, b: ParentReference, home: string): boolean =>
  a.name === b.name &&
  (a.namespace ?? home) === (b.namespace ?? home) &&
  (a.kind ?? 'Gateway') === (b.kind ?? 'Gateway') &&
  a.sectionName === b.sectionName &&
  a.port === b.port

/** A missing Service is explained by itself. */
const unresolvedSentences = ({ status }: AnyRouteObject, isServiceExplained: boolean): string[] =>
  (status?.parents ?? []).flatMap(({ conditions }) => {
    const resolved = conditionOf(conditions, 'ResolvedRefs')
    if (resolved?.status !== 'False' || (resolved.reason === 'BackendNotFound' && isServiceExplained)) return []
    return [`Its references are not all resolved: ${because(resolved)}.`]
  })

async function backendsOf(route: AnyRouteObject, cluster: ClusterReader): Promise<Finding[]> {
  const home = namespaceOf(route)
  const findings = new Map<string, Finding>()
  for (const { group = '', kind = 'Service', namespace = home, name, port = 0 } of (route.spec.rules ?? []).flatMap(
    ({ backendRefs = [] }) => backendRefs,
  ))
    if (group === '' && kind === 'Service' && namespace === home)
      for (const each of await backendFindings(home, { name, port: { number: port } }, cluster))
        findings.set(each.text, each)
  return [...findings.values()]
}

export const httpRouteExplainer = defineExplainer({
  kind: httpRoute,
  checked,
  explain: routeFindings,
})
export const tlsRouteExplainer = defineExplainer({
  kind: tlsRoute,
  checked,
  explain: routeFindings,
})
export const grpcRouteExplainer = defineExplainer({
  kind: grpcRoute,
  checked,
  explain: routeFindings,
})
